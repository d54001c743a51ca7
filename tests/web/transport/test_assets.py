"""Static files: an address that names the content, kept for ever; compressed once;
bundles that hold what each page needs."""

import gzip
import re

import brotli
import pytest

from app.errors import NotFound
from app.web.transport import assets
from app.web.transport.assets import SCRIPTS, STATIC, address
from app.web.transport.sheets import packed
from tests.conftest import Browser

AS_IT_IS = {"Accept-Encoding": "identity"}
INTER = "vendor/fontsource-variable-inter@5.3.0"
LATIN = f"{INTER}/files/inter-latin-wght-normal.woff2"
# In this order: where two files have a letter, the later one gives it.
PARTS = ("cyrillic-ext", "cyrillic", "greek-ext", "greek", "latin-ext", "vietnamese", "latin")


@pytest.mark.parametrize(
    "name", ["muster.css", "libraries.js", "muster.js", "icons.svg", "js/theme.js", "css/results.css", "img/muster.svg"]
)
async def test_an_address_with_its_hash_is_kept_for_ever(visitor: Browser, name: str) -> None:
    url = address(name)
    assert re.fullmatch(r"/static/.+\.[0-9a-f]{12}\.\w+", url)
    answer = await visitor.get(url)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_a_name_without_hash_or_with_an_old_one_is_asked_for_again(visitor: Browser) -> None:
    new = (await visitor.get(address("js/print.js"))).content
    for url in ("/static/js/print.js", "/static/js/print.js?v=1", "/static/js/print.0123456789ab.js"):
        answer = await visitor.get(url)
        assert (answer.content, answer.headers["cache-control"]) == (new, "no-cache")


async def test_what_has_not_changed_is_not_sent_again(visitor: Browser) -> None:
    for encoding in ("identity", "gzip", "br"):
        headers = {"Accept-Encoding": encoding}
        first = await visitor.get("/static/js/lists.js", headers=headers)
        tag = first.headers["etag"]
        for known, status in ((tag, 304), (f"W/{tag}", 304), (f'"x", {tag}', 304), ("*", 304), ('"x"', 200), ("", 200)):
            answer = await visitor.get("/static/js/lists.js", headers={**headers, "If-None-Match": known})
            assert answer.status_code == status, (encoding, known)
            assert answer.headers["etag"] == tag
            assert bool(answer.content) == (status == 200)
    tags = {
        (await visitor.get("/static/js/lists.js", headers={"Accept-Encoding": one})).headers["etag"]
        for one in ("identity", "gzip", "br")
    }
    assert len(tags) == 3


@pytest.mark.parametrize(("encoding", "opened"), [("br", brotli.decompress), ("gzip", gzip.decompress)])
async def test_it_is_the_same_in_each_encoding(visitor: Browser, encoding: str, opened: object) -> None:
    plain = await visitor.get(address("muster.css"), headers=AS_IT_IS)
    async with visitor.stream("GET", address("muster.css"), headers={"Accept-Encoding": encoding}) as answer:
        body = b"".join([piece async for piece in answer.aiter_raw()])
    assert answer.headers["content-encoding"] == encoding
    assert answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) == len(body) < len(plain.content) / 5
    assert opened(body) == plain.content  # type: ignore[operator]


async def test_a_sheet_comes_packed(visitor: Browser) -> None:
    answer = await visitor.get("/static/css/lists.css")
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.text == packed((STATIC / "css" / "lists.css").read_text())


async def test_what_is_small_or_packed_already_is_sent_as_it_is(visitor: Browser) -> None:
    for url in (address("js/print.js"), "/static/vendor/tabler-icons@3.51.0/LICENSE"):
        answer = await visitor.get(url, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    "path", ["none.css", "css/none.css", "css", "", "css/lists.css%00", "x" * 5000, "%2e%2e/README.md"]
)
async def test_nothing_else_is_sent(visitor: Browser, path: str) -> None:
    assert (await visitor.get(f"/static/{path}")).status_code in (400, 404)


@pytest.mark.parametrize(
    "name",
    [
        "css/../js/menus.js",
        "../README.md",
        "css//lists.css",
        "./css/lists.css",
        "css/lists.css/",
        "/etc/passwd",
        "css",
        "\x00",
    ],
)
def test_a_file_has_one_name(name: str) -> None:
    """Else what is kept would grow with what is asked for."""
    with pytest.raises(NotFound):
        assets.asset(name)


def test_a_file_that_is_not_there_has_no_address() -> None:
    with pytest.raises(NotFound):
        address("js/none.js")


def test_each_script_keeps_its_names_apart() -> None:
    """A bundle of blocks does that; what a file would share with another one needs an import,
    which no block can have."""
    for name in SCRIPTS:
        text = (STATIC / "js" / f"{name}.js").read_text()
        assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE), name
        assert text.count("{") == text.count("}"), name


async def test_the_sign_in_page_asks_for_little_and_for_the_letters_of_english_alone(visitor: Browser) -> None:
    page = await visitor.get("/sign-in", headers=AS_IT_IS)
    asked = set(
        re.findall(
            r'(?:src|href)="(/static/[^"#]+)',
            page.text.partition("<noscript>")[0] + page.text.partition("</noscript>")[2],
        )
    )
    sizes = {}
    for url in ("/sign-in", *asked):
        async with visitor.stream("GET", url, headers={"Accept-Encoding": "br"}) as answer:
            sizes[url] = len(b"".join([piece async for piece in answer.aiter_raw()]))
    assert address("icons.svg") in sizes
    fonts = [url for url in sizes if url.endswith(".woff2")]
    assert fonts == [address(LATIN)]
    assert sizes[fonts[0]] <= 49_000
    assert len(sizes) <= 10
    assert sum(size for url, size in sizes.items() if url not in fonts) <= 130_000


async def test_a_sheet_names_its_fonts_by_their_content(visitor: Browser) -> None:
    sheet = await visitor.get(address("muster.css"))
    fonts = re.findall(r'url\("([^"]+\.woff2)"\)', sheet.text)
    assert fonts == [address(f"{INTER}/files/inter-{part}-wght-normal.woff2") for part in PARTS]
    for url in fonts:
        answer = await visitor.get(url)
        assert answer.headers["content-type"] == "font/woff2"
        assert "immutable" in answer.headers["cache-control"]
        assert answer.content[:4] == b"wOF2"
        assert "content-encoding" not in answer.headers
