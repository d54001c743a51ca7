// The API reference: sends a GET with a token that somebody typed. The token is in its field alone; cookies are not sent.
const token = document.getElementById("api-token");
for (const form of document.querySelectorAll("[data-api-token], [data-api-try]")) form.hidden = false;

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.matches("[data-api-token]")) event.preventDefault();
  if (!form.matches("[data-api-try]")) return;
  event.preventDefault();
  tell(form, "Waiting for the answer …", "");
  try {
    const answer = await fetch(addressOf(form), {
      headers: token.value ? { Authorization: `Bearer ${token.value.trim()}` } : {},
      credentials: "omit",
      cache: "no-store",
    });
    tell(form, `${answer.status} ${answer.statusText}`.trim(), pretty(await answer.text()));
  } catch {
    tell(form, "No answer came. Look at your connection, then retry.", "");
  }
});

// What the path names in braces stands in the path, the rest behind the question mark.
function addressOf(form) {
  let path = form.dataset.apiTry;
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    const place = `{${name}}`;
    if (path.includes(place)) path = path.replace(place, () => encodeURIComponent(value.trim()));
    else if (value.trim()) query.append(name, value);
  }
  return query.size ? `${path}?${query}` : path;
}

function tell(form, status, body) {
  form.querySelector("[data-answer]").hidden = false;
  form.querySelector("[data-status]").textContent = status;
  form.querySelector("[data-body]").textContent = body;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
