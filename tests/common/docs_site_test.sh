#!/bin/bash
# docs_site_test.sh: the site that `./dev docs` makes: its links hold, down to the headings; nothing comes from elsewhere; its search finds. Prints TAP.
set -u
source=${BERTH_SOURCE:?the sources}
command -v cmark-gfm >/dev/null || { echo '1..0 # SKIP cmark-gfm is not here' && exit; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$source/tests/common/tap.sh"

cat >check.py <<'END'
import html.parser, json, os, posixpath, re, sys, urllib.parse
site, ids, links, wrong = sys.argv[1], {}, [], []
class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id": ids[self.path].add(value)
            if name in ("href", "src"): links.append((self.path, tag, value))
            if name in ("style", "srcset") or name.startswith("on"): wrong.append(f"{self.path}: {name}")
for folder, _, names in os.walk(site):
    for name in names:
        path = os.path.relpath(os.path.join(folder, name), site)
        if path.endswith(".html"):
            page = Page(); page.path = path; ids[path] = set()
            page.feed(open(os.path.join(site, path), encoding="utf-8").read())
for path, tag, value in links:
    if re.match(r"[a-z]+:|//", value):
        if tag != "a": wrong.append(f"{path}: {tag} takes {value} from elsewhere")
        continue
    where, _, name = value.partition("#")
    where = posixpath.normpath(posixpath.join(posixpath.dirname(path), urllib.parse.unquote(where))) if where else path
    if not os.path.isfile(os.path.join(site, where)): wrong.append(f"{path}: {value} leads nowhere")
    elif name and where in ids and name not in ids[where]: wrong.append(f"{path}: {value}: there is no such heading")
for name in ("style.css", "search.js"):
    if re.search(r"url\(|@import|https?:|import\(|fetch\(", open(os.path.join(site, name)).read()): wrong.append(f"{name} takes something from elsewhere")
sections = json.loads(open(os.path.join(site, "sections.js"), encoding="utf-8").read().removeprefix("const SECTIONS = ").rstrip(";\n"))
for where, title, text in sections:
    path, _, name = where.partition("#")
    if name not in ids.get(path, ()): wrong.append(f"the search leads to {where}, which is not there")
if len(sections) < 300 or len(links) < 1000: wrong.append(f"{len(sections)} sections, {len(links)} links: that is too few")
print("\n".join(wrong))
sys.exit(bool(wrong))
END

holds 'the site is made' "$source/tools/make-docs" "$source" site
every() { (cd "$source" && ls README.md docs/*.md docs/*/*.md) | sed -E 's|^(docs/)?README\.md$|\1index.md|; s/md$/html/' | while read -r page; do [ -s "site/$page" ] || { echo "$page is not there" && return 1; }; done; }
holds 'each page of the manual is in it' every
holds 'its links hold, and nothing comes from elsewhere' python3 check.py site
for each in 's|href="jobs.html|href="jibs.html|' 's|id="parallel-jobs"|id="parallel"|' 's|</main>|<img src="https://example.org/a.png"></main>|'; do
  cp -r site broken && sed -i "$each" broken/docs/*.html
  ! python3 check.py broken >why
  result $? "what is wrong with it is noticed: $each"
  rm -rf broken
done
mkdir -p wrong/docs && echo '[here](nowhere.md)' >wrong/docs/README.md
! "$source/tools/make-docs" wrong none 2>why && grep -q 'nowhere.md leads nowhere' why
result $? 'a page with a link that leads nowhere fails'
! "$source/tools/make-docs" "$source" site 2>why
result $? 'a folder that is there already is left alone'

if command -v chromium-headless-shell >/dev/null; then
  found() { # WORDS LINK
    timeout 60 chromium-headless-shell --no-sandbox --disable-gpu --virtual-time-budget=5000 --dump-dom "file://$work/site/docs/index.html?q=$1" >dom 2>err
    sed -n 's/.*<div id="found">\(.*\)<\/div>.*/\1/p' dom | grep -q -- "$2"
  }
  holds 'the search finds a section by the words of its heading' found 'parallel%20jobs' 'href="../docs/jobs.html#parallel-jobs"'
  holds 'and says when there is none' found 'nosuchwordatall' 'Nothing has all of these words'
fi
echo "1..$count"
exit $((failures > 0))
