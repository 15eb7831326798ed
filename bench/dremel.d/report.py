"""One page with the tables and the curves, which needs no network."""

from html import escape

import early_ranks
import picture
import tables

STYLE = ("body{font:14px sans-serif;max-width:940px;margin:2em auto;padding:0 1em}"
         "pre{overflow-x:auto;background:#f6f6f6;padding:.8em}svg{max-width:100%;height:auto}")


def drawings(records, wanted, known):
    """(study, what is drawn, SVG) of everything that there are curves of; `known` are subjects
    by name, in the size that was run."""
    found = []
    for study in wanted:
        if study.points and searched(records, study):
            found.append((study, "searches",
                          picture.searches(records, study, known[study.subject])))
        if study.early and picture.sampled(records, study.subject):
            found.append((study, "trials", picture.running(records, study.subject)))
        if study.in_full and early_ranks.in_full(records, study.subject):
            found.append((study, "trials-in-full", picture.in_full(records, study.subject)))
    return found


def searched(records, study):
    """Whether any method has begun to search."""
    return any(it["type"] == "trial" and it["subject"] == study.subject
               and it["method"] in study.methods for it in records)


def page(records, wanted, known, unmeasured=()):
    """HTML; `known` as for drawings."""
    parts = ['<!doctype html><html lang="en"><head><meta charset="utf-8">',
             f"<title>Dremel against other searches</title><style>{STYLE}</style></head><body>",
             "<h1>Dremel against other searches</h1>",
             f"<pre>{escape(tables.render(records, wanted, unmeasured))}</pre>"]
    last = None
    for study, _, drawing in drawings(records, wanted, known):
        if study != last:
            parts.append(f"<h2>{escape(f'{study.name}: {study.subject}')}</h2>")
        parts.append(drawing)
        last = study
    return "\n".join([*parts, "</body></html>"]) + "\n"
