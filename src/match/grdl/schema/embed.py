#!/usr/bin/env python3
"""embed.py LAYER.xsd... : the schema as C: its layers as one text without includes, and the table of dimensions that are known.

The library opens no files, so the schema that it validates by is in it.
"""
import re
import sys

body, names = [], set()
for path in sys.argv[1:]:
    text = re.sub(r"<!--.*?-->", "", open(path, encoding="utf-8").read(), flags=re.S)
    inner = re.search(r"<xs:schema[^>]*>(.*)</xs:schema>", text, re.S).group(1)
    body.append(re.sub(r"<xs:include[^>]*/>", "", inner))
    if path.endswith("grdl-dimensions.xsd"):
        names |= set(re.findall(r'<xs:element name="([^"]+)"', inner))
lines = [line.strip() for line in "".join(body).splitlines() if line.strip()]
lines.insert(0, '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">')
lines.append("</xs:schema>")
print("/* Made by embed.py from the files of schema/. */")
print('#include "match/grdl/schema_text.h"')
print("const char *const schema_lines[] = {")
for line in lines:
    print('    "%s\\n",' % line.replace("\\", "\\\\").replace('"', '\\"'))
print("};")
print("const unsigned schema_line_count = sizeof schema_lines / sizeof *schema_lines;")
print("const char *const schema_dimensions[] = {")
for name in sorted(names):
    print('    "%s",' % name)
print("};")
print("const unsigned schema_dimension_count = sizeof schema_dimensions / sizeof *schema_dimensions;")
