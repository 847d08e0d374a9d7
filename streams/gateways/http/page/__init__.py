"""The page: what a memory looks like, as HTML that works without script.

Everything on it follows a moment: `as_of` in the address, which the slider sets. It asks through the door, as the other
routes do, so a key shows its own spaces alone; what it mends are facts, recorded like any other.

    scene.py     where and when a page looks, and how it asks
    drawing.py   where lines, blocks and circles of its pictures lie
    pages.py     the pages
    beside.py    two memories side by side
    acts.py      what is mended from here
    api.py       what the routes take
    entry.py     signing in with a key, and the files that pages need
    templates/   HTML, in which all that comes from outside is escaped; page.css, page.js and page.svg beside it
"""
