"""Whether ranks hold from early on, as figures, as a table and as curves."""

import unittest
import xml.etree.ElementTree

from testing import reading
import curves
import early_ranks
import picture
import report
import studies
import tables


def full(number, series):
    mean = curves.mean(series, 0, float("inf"))
    return {"type": "full", "subject": "s", "number": number, "series": series, "seconds": 30,
            "metrics": {"throughput": mean}}


def steady(throughput):
    return [[second, throughput] for second in range(1, 31)]


def turning(before, after, at=10):
    return [[second, before if second <= at else after] for second in range(1, 31)]


class Means(unittest.TestCase):
    def test_means_are_over_time(self):
        series = [[1.0, 10.0], [3.0, 40.0], [4.0, 20.0]]
        self.assertEqual(curves.mean(series, 0, 3), 30)
        self.assertEqual(curves.mean(series, 1, 9), 100 / 3)
        self.assertIsNone(curves.mean(series, 0, 0.5))
        self.assertEqual(curves.mean_so_far(series), [(1, 10), (3, 30), (4, 27.5)])
        self.assertEqual(curves.mean_so_far([]), [(0.0, 0.0)])

    def test_equal_numbers_share_a_rank(self):
        self.assertEqual(early_ranks.ranks([5, 1, 5, 9]), [2.5, 1, 2.5, 4])

    def test_correlations_are_of_ranks(self):
        of = lambda *numbers: dict(enumerate(numbers))
        self.assertAlmostEqual(early_ranks.correlation(of(1, 2, 3, 4), of(1, 4, 9, 99), range(4)), 1)
        self.assertAlmostEqual(early_ranks.correlation(of(1, 2, 3, 4), of(9, 7, 5, 1), range(4)), -1)
        # 1 - 6 · 2 / (4 · 15): two neighbours have changed places.
        self.assertAlmostEqual(early_ranks.correlation(of(1, 2, 3, 4), of(1, 3, 2, 4), range(4)),
                               0.8)
        self.assertIsNone(early_ranks.correlation(of(1, 2, 3), of(1, 2, 3), range(3)), "too few")
        self.assertIsNone(early_ranks.correlation(of(1, 1, 1, 1), of(1, 2, 3, 4), range(4)))


class EarlyRanks(unittest.TestCase):
    def setUp(self):
        # The fourth leads for ten seconds, and is the last at the end.
        self.held = [{"type": "plan"},
                     *(full(number, steady(100 + 10 * number)) for number in (1, 2, 3)),
                     full(4, turning(200, 50))]
        self.held.append({"type": "full", "subject": "s", "number": 5, "failure": "x"})
        where = {"type": "trial", "subject": "s", "method": "dremel", "configuration": {}}
        # The first runs on until it has settled: only what several have is a point.
        self.held += [{**where, "number": 1, "readings": [reading(1, it, 9) for it in
                                                          (6, 9.2, 12.1, 21, 30)]},
                      {**where, "number": 2, "readings": [reading(1, 12.3, 9), reading(1, 21.1, 9)]},
                      {**where, "number": 3, "readings": [reading(1, 12.2, 9), reading(1, 30.1, 9)]},
                      {**where, "number": 4, "readings": []},
                      {"type": "found", "subject": "s", "method": "dremel", "number": 2}]

    def test_points_are_where_several_were_compared(self):
        found = early_ranks.points(self.held, "s")
        self.assertEqual(len(found), 2)
        self.assertAlmostEqual(found[0], 12.2)
        self.assertAlmostEqual(found[1], 21.05)
        self.assertEqual(early_ranks.points(self.held[:2], "s"), [])

    def test_who_leads_early_need_not_lead_at_the_end(self):
        found = early_ranks.moments(self.held, "s")
        # 3, 6, 18 and 24 s, and the two points; 12 s are those of the first point.
        self.assertEqual([round(it.second) for it in found], [3, 6, 12, 18, 21, 24])
        self.assertEqual([it.compared for it in found], [False, False, True, False, True, False])
        first, last = found[0], found[-1]
        self.assertEqual((first.place, first.trials), (2, 4))
        # 1 - 6 · (1 + 1 + 1 + 9) / (4 · 15).
        self.assertAlmostEqual(first.with_end, -0.2)
        self.assertAlmostEqual(first.leader, 100 / 130)
        # Of 24 s the fourth has 10 with 200 and 14 with 50: 112.5, over the first's 110.
        self.assertEqual((last.place, last.leader), (1, 1))
        self.assertAlmostEqual(last.with_end, 0.8)
        self.assertAlmostEqual(last.with_rest, 0.8)

    def test_the_rest_has_no_part_in_the_means_so_far(self):
        # What comes first decides the mean at the end, and says nothing of what follows.
        held = [full(number, turning(1000 * number, 100 - number, 15)) for number in range(1, 6)]
        moment = early_ranks.moments(held, "s")[-2]
        self.assertAlmostEqual(moment.with_end, 1)
        self.assertAlmostEqual(moment.with_rest, -1)

    def test_the_table_and_the_curves_show_it(self):
        study = studies.halving("s")
        text = tables.render(self.held, [study])
        self.assertRegex(text, r"3\.0 s +-0\.20 +-0\.20 +2 of 4 +76\.9%")
        self.assertRegex(text, r"12\.2 s \* ")
        page = report.page(self.held, [study], {})
        self.assertEqual(page.count("<svg"), 1)
        drawing = picture.in_full(self.held, "s")
        tree = xml.etree.ElementTree.fromstring(drawing)
        lines = [it for it in tree.iter() if it.tag.endswith("polyline")]
        # All of them to the end, the chosen one and the best in colours.
        self.assertEqual(len({it.get("points").split()[-1].split(",")[0] for it in lines}), 1)
        colours = sorted(it.get("stroke") for it in lines)
        self.assertEqual(colours, sorted([picture.FAINT, picture.FAINT, picture.COLOURS["dremel"],
                                          picture.COLOURS["single-task"]]))
        self.assertEqual(drawing.count("stroke-dasharray"), 2)

    def test_without_trials_in_full_nothing_is_said(self):
        held = [it for it in self.held if it["type"] != "full"]
        self.assertEqual(early_ranks.moments(held, "s"), [])
        self.assertNotIn("ranks", tables.render(held, [studies.halving("s")]).partition("±")[0])
        self.assertNotIn("<svg", report.page(held, [studies.halving("s")], {}))


if __name__ == "__main__":
    unittest.main()
