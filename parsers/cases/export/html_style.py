"""The one style of a report: calm, dense, light and dark as the system is, and readable on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --canvas: light-dark(#f5f6f8, #0d0f11);
  --surface: light-dark(#fff, #15181b);
  --ink: light-dark(#16191d, #e7eaed);
  --quiet: light-dark(#59626c, #9aa4ae);
  --rule: light-dark(#e1e4e8, #272c31);
  --error: light-dark(#b3261e, #ff8d85);
  --warning: light-dark(#8a5000, #e9b44c);
  --reasoning: light-dark(#6b3cc9, #b9a0f8);
  --name: light-dark(#0b57c4, #82b4ff);
  --args: light-dark(#0a6b3b, #6ccd95);
}
* { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--canvas);
  color: var(--ink);
  font: 0.875rem/1.375rem system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-inline-size: 72rem; margin-inline: auto; padding: 1.5rem 1rem 3rem; }
section, .lead { margin-block-end: 1.5rem; }
.lead { padding-inline-start: 1rem; border-inline-start: 3px solid var(--quiet); }
.lead.error { border-color: var(--error); }
.lead.warning { border-color: var(--warning); }
h1 { margin: 0 0 0.5rem; font-size: 1.25rem; line-height: 1.75rem; overflow-wrap: anywhere; }
h2 { margin: 0 0 0.5rem; font-size: 0.875rem; }
p { margin: 0 0 0.5rem; overflow-wrap: anywhere; }
.note { white-space: pre-line; }
.quiet, dt, th, summary { color: var(--quiet); }
code, pre { font: 0.75rem/1.25rem ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; unicode-bidi: isolate; }
code { overflow-wrap: anywhere; }
.state { white-space: nowrap; }
pre {
  max-block-size: 30rem;
  margin: 0 0 0.5rem;
  padding: 0.5rem 0.75rem;
  overflow: auto;
  border: 1px solid var(--rule);
  background: var(--surface);
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.facts { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; margin: 0.5rem 0 0; }
.facts div, .told div { display: flex; gap: 0.5rem; }
.told dt { min-inline-size: 6rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.deltas { display: flex; flex-wrap: wrap; gap: 0.25rem 0; margin: 0 0 0.5rem; padding: 0; list-style: none; }
.deltas li { padding: 1px 0.5rem; background: var(--surface); }
.deltas li + li { border-inline-start: 2px dashed var(--error); }
.reasoning { color: var(--reasoning); font-style: italic; }
.name { color: var(--name); font-weight: 700; }
.args { color: var(--args); }
.wide { max-block-size: 40rem; overflow: auto; border: 1px solid var(--rule); background: var(--surface); }
table { inline-size: 100%; border-collapse: collapse; }
th, td { padding: 0.25rem 0.5rem; border-block-end: 1px solid var(--rule); text-align: start; vertical-align: top; }
th { position: sticky; inset-block-start: 0; background: var(--surface); font-size: 0.75rem; }
ul { margin: 0; padding-inline-start: 1.25rem; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
@media print {
  pre, .wide { max-block-size: none; overflow: visible; }
}
"""
