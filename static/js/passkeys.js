// Passkeys: a form[data-passkey] asks the browser to make one or to sign with one, and sends the answer. The page holds the request.
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const plain = (buffer) =>
  btoa(Array.from(new Uint8Array(buffer), (one) => String.fromCharCode(one)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const PARTS = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];

// JSON holds no bytes: what the browser takes and gives as bytes stands there in base64url.
function asked(form) {
  const request = JSON.parse(form.dataset.request);
  const known = (list) => list?.map((one) => ({ ...one, id: bytes(one.id) }));
  request.challenge = bytes(request.challenge);
  if (request.user) request.user.id = bytes(request.user.id);
  request.allowCredentials = known(request.allowCredentials);
  request.excludeCredentials = known(request.excludeCredentials);
  return { publicKey: request };
}

function told({ id, rawId, type, response }) {
  const parts = PARTS.filter((name) => response[name]).map((name) => [name, plain(response[name])]);
  const transports = response.getTransports?.();
  return JSON.stringify({ id, rawId: plain(rawId), type, response: { ...Object.fromEntries(parts), transports } });
}

// The words are the page's, in the language of the person.
function reason(error, form, words) {
  switch (error.name) {
    case "NotAllowedError": return words.notAllowed;
    case "InvalidStateError": return words.keptAlready;
    case "SecurityError": return words.elsewhere.replace("{address}", form.dataset.origin);
    case "NotSupportedError": return words.notSupported;
    default: return `${words.failed} (${error.name})`;
  }
}

function serve(form) {
  const button = form.querySelector("button[type=submit]");
  const said = form.querySelector("[data-said]");
  if (!window.PublicKeyCredential) {
    said.textContent = said.dataset.unable;
    return;
  }
  button.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    said.textContent = "";
    try {
      const answer = await navigator.credentials[form.dataset.passkey](asked(form));
      form.querySelector("[data-answer]").value = told(answer);
      form.submit();
    } catch (error) {
      said.textContent = reason(error, form, said.dataset);
      button.disabled = false;
      button.focus();  // which the disabled button lost
    }
  });
}

for (const form of document.querySelectorAll("form[data-passkey]")) serve(form);
