"""The style of the pages of a sweep: that of every report, wider, with its table and plots."""

from __future__ import annotations

from parsers.cases.export.html_style import STYLE

REPORT_STYLE = f"""{STYLE}
main {{ max-inline-size: 88rem; }}
.error {{ color: var(--error); }}
.warning {{ color: var(--warning); }}
.lead.error, .lead.warning {{ color: inherit; }}
.new {{ margin-inline-start: 0.5rem; padding: 0 0.25rem; border: 1px solid; font-size: 0.75rem; }}
.signatures {{ background: var(--surface); border: 1px solid var(--rule); }}
.signatures th {{ white-space: nowrap; }}
.signatures tr:not(.more) td {{ border-block-end: 0; padding-block-start: 0.5rem; }}
.signatures .fault {{ min-inline-size: 8rem; }}
.signatures .shares {{ inline-size: 12rem; }}
.signatures .rows {{ inline-size: 26rem; overflow-wrap: anywhere; }}
.signatures .more td {{ padding-block-end: 0.5rem; }}
.signatures .more p {{ margin-block-end: 0.25rem; }}
.signatures details > :nth-child(2) {{ margin-block-start: 0.5rem; }}
.share {{ display: grid; grid-template-columns: minmax(3rem, 1fr) 4rem; gap: 0.5rem; align-items: center; }}
.share, .number {{ font-variant-numeric: tabular-nums; text-align: end; }}
.share {{ white-space: nowrap; }}
.signatures th:nth-child(4) {{ text-align: end; }}
.beside {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 1.5rem; }}
.beside section {{ min-inline-size: 0; }}
.beside td:nth-child(2) {{ min-inline-size: 6rem; vertical-align: middle; }}
.beside td:nth-child(n + 3) {{ white-space: nowrap; }}
summary {{ inline-size: fit-content; padding-block: 0.125rem; cursor: pointer; }}
a {{ color: inherit; }}
h3 {{ margin: 0 0 0.25rem; color: var(--quiet); font-size: 0.75rem; font-weight: 400; }}
.bar {{ display: block; }}
.bar .all {{ fill: var(--rule); }}
.bar .error {{ fill: var(--error); }}
.bar .warning {{ fill: var(--warning); }}
.bar .part {{ fill: var(--quiet); }}
.plot {{
  display: block;
  inline-size: 100%;
  max-inline-size: 48rem;
  margin-block-end: 1rem;
  border: 1px solid var(--rule);
  background: var(--surface);
}}
.plot text {{ fill: var(--quiet); font-size: 12px; }}
.plot .axis {{ fill: none; stroke: var(--quiet); }}
.plot .line {{ fill: none; stroke: var(--name); stroke-width: 2; }}
.plot .dot, .plot .column {{ fill: var(--name); }}
@media (max-width: 48rem) {{
  .signatures, .signatures tbody, .signatures tr, .signatures td {{ display: block; inline-size: auto; }}
  .signatures thead {{ position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; }}
  .signatures tr.more {{ border-block-end: 1px solid var(--rule); }}
  .signatures td, .signatures tr:not(.more) td {{ padding-block: 0.125rem; border: 0; }}
  .signatures .shares, .signatures .rows {{ inline-size: auto; }}
  .signatures .number {{ display: inline; padding-inline: 0.5rem 0; }}
  .signatures .number::after {{ content: " outputs"; }}
  .signatures .fault {{ display: inline; }}
}}
@media print {{
  .bar, .plot {{ print-color-adjust: exact; }}
}}
@media (forced-colors: active) {{
  .bar, .plot {{ forced-color-adjust: none; }}
}}
"""
