"""One page with the tables and the curves, which needs no network."""

from html import escape

import picture
import tables

STYLE = ("body{font:14px sans-serif;max-width:940px;margin:2em auto;padding:0 1em}"
         "pre{overflow-x:auto;background:#f6f6f6;padding:.8em}svg{max-width:100%;height:auto}")


def page(records, wanted, budgets):
    """HTML; `budgets` are seconds of a search, by subject."""
    parts = ['<!doctype html><html lang="en"><head><meta charset="utf-8">',
             f"<title>Dremel against other searches</title><style>{STYLE}</style></head><body>",
             "<h1>Dremel against other searches</h1>",
             f"<pre>{escape(tables.render(records, wanted))}</pre>"]
    for study in wanted:
        if study.early and any(it["type"] == "trial" and it["subject"] == study.subject
                               for it in records):
            parts.append(f"<h2>{escape(study.subject)}</h2>")
            parts.append(picture.searches(records, study, budgets[study.subject]))
            parts.append(picture.running(records, study.subject))
    return "\n".join([*parts, "</body></html>"]) + "\n"
