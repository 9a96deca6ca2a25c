#!/usr/bin/env python3
"""The check of the include order notices what it is for."""
import pathlib
import tempfile
import unittest

import include_order

TABLE = """
| folder | may include | what lives there |
|---|---|---|
| `core/` | – | basics |
| `linalg/` | core | decompositions |
| `ops/` | core, `linalg/blas.h` | layers |
| `testing/` | core | checks |
| `cli/` | all | commands |
"""


class IncludeOrder(unittest.TestCase):
    def faults(self, files, table=TABLE):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "ARCHITECTURE.md").write_text(table, encoding="utf-8")
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return include_order.check(root)

    def test_what_the_table_allows_passes(self):
        self.assertEqual(self.faults({
            "tocca/core/a.h": "#include <vector>\n",
            "tocca/linalg/a.cpp": '#include "tocca/linalg/a.h"\n#include "tocca/core/a.h"\n#include <lapacke.h>\n',
            "tocca/ops/a.cpp": '#include "tocca/linalg/blas.h"\n',
            "tocca/ops/a_test.cpp": '#include "tocca/testing/a.h"\n',
            "cli/main.cpp": '#include "cli/fit.h"\n#include "tocca/ops/a.h"\n',
        }), [])

    def test_an_include_against_the_flow_is_named_with_its_line(self):
        self.assertEqual(self.faults({"tocca/core/a.h": '#pragma once\n\n#include "tocca/linalg/a.h"\n'}),
                         ["tocca/core/a.h:3: core/ may not include tocca/linalg/a.h (it may: core)"])

    def test_angle_brackets_and_spaces_hide_nothing(self):
        self.assertEqual(len(self.faults({"tocca/core/a.h": "  #  include <tocca/linalg/a.h>\n"})), 1)

    def test_a_single_file_allows_no_other(self):
        self.assertEqual(len(self.faults({"tocca/ops/a.cpp": '#include "tocca/linalg/svd.h"\n'})), 1)

    def test_testing_is_for_tests(self):
        self.assertEqual(len(self.faults({"tocca/ops/a.cpp": '#include "tocca/testing/a.h"\n'})), 1)

    def test_no_folder_includes_the_command(self):
        self.assertEqual(len(self.faults({"tocca/ops/a.cpp": '#include "cli/fit.h"\n'})), 1)

    def test_paths_start_at_the_root(self):
        self.assertEqual(len(self.faults({"tocca/ops/a.cpp": '#include "dense.h"\n'})), 1)

    def test_lapack_has_one_caller(self):
        self.assertEqual(self.faults({"tocca/ops/a.cpp": "#include <lapacke.h>\n"}),
                         ["tocca/ops/a.cpp:1: only tocca/linalg/ may include <lapacke.h>"])

    def test_a_new_folder_must_be_in_the_table(self):
        self.assertEqual(self.faults({"tocca/extra/a.h": ""}),
                         ["tocca/extra/a.h: ARCHITECTURE.md's table of folders lacks extra/"])

    def test_an_empty_tree_or_table_is_no_success(self):
        self.assertEqual(self.faults({}), ["no sources found"])
        self.assertIn("ARCHITECTURE.md: no table of folders found", self.faults({"tocca/core/a.h": ""}, table=""))


if __name__ == "__main__":
    unittest.main()
