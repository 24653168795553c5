#!/usr/bin/env python3
"""The comparison of exported functions notices a function that is gone, new or changed."""

import sys
import unittest

sys.dont_write_bytecode = True

import symbols  # noqa: E402

OUTPUT = """\
0000000000000010 T sheaf::v0::Client::get(std::basic_string_view<char, std::char_traits<char> >)
0000000000000010 T sheaf::v0::Client::get(std::basic_string_view<char, std::char_traits<char> >)
0000000000000020 W std::vector<int, std::allocator<int> >::clear()
0000000000000030 V typeinfo for sheaf::v0::Client
"""
GET = "sheaf::v0::Client::get(std::string_view)"


class Symbols(unittest.TestCase):
    def test_only_functions_of_ours_and_each_once(self):
        self.assertEqual(symbols.functions(OUTPUT), [GET])

    def test_what_is_gone_and_what_is_new(self):
        other = GET.replace("string_view", "string")
        self.assertEqual(list(symbols.differences([GET], [GET])), [])
        self.assertEqual(list(symbols.differences([GET], [other])), ["- " + GET, "+ " + other])


if __name__ == "__main__":
    unittest.main()
