/* Prettier has the layout: where empty lines stand is left to whoever groups the rules. */
export default {
  extends: "stylelint-config-standard",
  rules: {
    "at-rule-empty-line-before": null,
    "comment-empty-line-before": null,
    "custom-property-empty-line-before": null,
    "declaration-empty-line-before": null,
    "rule-empty-line-before": null,
    "media-feature-range-notation": "prefix", // browsers of 2022 read it too
    "no-descending-specificity": null, // the sheets are in layers and sorted by part, not by weight
    "property-no-vendor-prefix": [true, { ignoreProperties: ["-webkit-box-decoration-break"] }], // Safari knows no other
    "value-keyword-case": ["lower", { ignoreProperties: ["/^--/"] }], // names of typefaces
  },
};
