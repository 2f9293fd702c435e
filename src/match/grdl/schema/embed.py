#!/usr/bin/env python3
"""embed.py LAYER.xsd... : the schema as C: its layers as one text without includes, and the table of dimensions that are known.

The library opens no files, so the schema that it validates by is in it. Of the dimensions that are of the same kind wherever they stand, the text has
the first alone, and the table says which stands for which: libxml2 compares all elements of a choice with each other, and more than a hundred of them
took longer than all else that a command does.
"""
import re
import sys

body, kinds = [], {}
for path in sys.argv[1:]:
    text = re.sub(r"<!--.*?-->", "", open(path, encoding="utf-8").read(), flags=re.S)
    inner = re.search(r"<xs:schema[^>]*>(.*)</xs:schema>", text, re.S).group(1)
    if path.endswith("grdl-dimensions.xsd"):
        for place, group in enumerate(re.findall(r"<xs:group .*?</xs:group>", inner, re.S)):
            for name, kind in re.findall(r'<xs:element name="([^"]+)" type="([^"]+)"/>', group):
                kinds.setdefault(name, []).append((place, kind))
        first = {}
        for name in kinds:
            first.setdefault(tuple(kinds[name]), name)
        element = {name: first[tuple(kinds[name])] for name in kinds}
        inner = re.sub(r'<xs:element name="([^"]+)" type="[^"]+"/>', lambda found: found.group(0) if element[found.group(1)] == found.group(1) else "", inner)
    body.append(re.sub(r"<xs:include[^>]*/>", "", inner))
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
print("const struct schema_dimension schema_dimensions[] = {")
for name in sorted(element):
    print('    {"%s", "%s"},' % (name, element[name]))
print("};")
print("const unsigned schema_dimension_count = sizeof schema_dimensions / sizeof *schema_dimensions;")
