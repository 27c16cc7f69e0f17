// Every way in which a page sends a request to another site. Each resolves to what it came to know, or null for nothing.

const CHAT = "/v1/chat/completions";
const CHAT_BODY = JSON.stringify({ model: "bench/one", messages: [{ role: "user", content: "From a foreign page." }] });
const WAIT = 4000;

const read = async (url, options) => {
  const reply = await fetch(url, options);
  const text = await reply.text();
  return text || reply.status ? `${reply.status} ${text}` : null;
};
const post = (type, more) => ({ method: "POST", body: CHAT_BODY, headers: { "content-type": type }, ...more });
const within = (work) => Promise.race([work, new Promise((end) => setTimeout(end, WAIT, null))]);

// An element that loads something, and whether it did.
const loaded = (name, attributes) =>
  new Promise((end) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.onload = () => end(`${name} loaded`);
    element.onerror = () => end(null);
    document.body.append(element);
  });

// A form sent into a frame; what the frame shows is the reader's own business, and never this page's.
const form = (action, fields, enctype, method = "POST") =>
  new Promise((end) => {
    const frame = Object.assign(document.createElement("iframe"), { name: `f${Math.random()}` });
    const sent = Object.assign(document.createElement("form"), { action, enctype, method, target: frame.name });
    for (const [name, value] of Object.entries(fields)) {
      sent.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
    document.body.append(frame, sent);
    frame.onload = () => {
      if (frame.contentDocument?.URL === "about:blank") return;
      end(frame.contentDocument ? frame.contentDocument.body.textContent : null);
    };
    sent.submit();
  });

const ATTACKS = {
  cors_json: (base) => read(base + CHAT, post("application/json")),
  cors_plain: (base) => read(base + CHAT, post("text/plain")),
  cors_key: (base) => read(base + CHAT, post("application/json", { headers: { authorization: "Bearer x" } })),
  cors_cookies: (base) => read(base + CHAT, post("text/plain", { credentials: "include" })),
  no_cors_plain: (base) => read(base + CHAT, post("text/plain", { mode: "no-cors" })),
  no_cors_form: (base) => read(base + CHAT, post("application/x-www-form-urlencoded", { mode: "no-cors", credentials: "include" })),
  no_cors_no_type: (base) => read(base + CHAT, { method: "POST", mode: "no-cors", body: new Blob([CHAT_BODY]) }),
  keep_alive: (base) => read(base + CHAT, post("text/plain", { mode: "no-cors", keepalive: true })),
  anthropic: (base) => read(`${base}/v1/messages`, post("text/plain", { mode: "no-cors" })),
  ollama: (base) => read(`${base}/api/chat`, post("text/plain", { mode: "no-cors" })),
  verdict: (base) => read(`${base}/bench/verdict`, post("text/plain", { mode: "no-cors", body: '{"call": "x", "useful": true}' })),
  models: (base) => read(`${base}/v1/models`),
  models_no_cors: (base) => read(`${base}/v1/models`, { mode: "no-cors" }),
  dashboard: (base) => read(`${base}/admin/`, { credentials: "include" }),
  dashboard_no_cors: (base) => read(`${base}/admin/`, { mode: "no-cors", credentials: "include" }),
  dashboard_preflight: (base) => read(`${base}/admin/`, { headers: { "x-wanted": "1" } }),
  dashboard_post: (base) => read(`${base}/admin/keys/gatewaykey/add/`, { method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({ name: "mine" }) }),
  health: (base) => read(`${base}/healthz`),
  beacon: (base) => { navigator.sendBeacon(base + CHAT, new Blob([CHAT_BODY], { type: "text/plain" })); return null; },
  xhr: (base) => new Promise((end) => {
    const request = new XMLHttpRequest();
    request.open("POST", base + CHAT);
    request.onload = () => end(`${request.status} ${request.responseText}`);
    request.onerror = () => end(null);
    request.send(CHAT_BODY);
  }),
  image: (base) => loaded("img", { src: `${base}/v1/models` }),
  image_of_the_dashboard: (base) => loaded("img", { src: `${base}/static/benchsite/icon.svg` }),
  script: (base) => loaded("script", { src: `${base}/v1/models` }),
  script_of_the_dashboard: (base) => loaded("script", { src: `${base}/static/collections_app/seats.js` }),
  style: (base) => loaded("link", { rel: "stylesheet", href: `${base}/static/collections_app/roster.css` }),
  events: (base) => new Promise((end) => {
    const source = new EventSource(`${base}/bench/panels/${window.panel}/events`);
    source.onopen = () => end("an open stream");
    source.onerror = () => { source.close(); end(null); };
  }),
  socket: (base) => new Promise((end) => {
    const socket = new WebSocket(`${base.replace("http", "ws")}${CHAT}`);
    socket.onopen = () => end("an open socket");
    socket.onerror = () => end(null);
  }),
  form_plain: (base) => form(base + CHAT, { [CHAT_BODY.slice(0, -1) + ',"x":"']: '"}' }, "text/plain"),
  form_fields: (base) => form(base + CHAT, { model: "bench/one" }, "application/x-www-form-urlencoded"),
  form_login: (base) => form(`${base}/admin/login/`, { token: "x" }, "application/x-www-form-urlencoded"),
  form_key: (base) => form(`${base}/admin/keys/gatewaykey/add/`, { name: "mine" }, "application/x-www-form-urlencoded"),
  form_collection: (base) => form(`${base}/admin/collections_app/collection/add/`, { name: "mine" }, "multipart/form-data"),
  form_logout: (base) => form(`${base}/admin/logout/`, {}, "application/x-www-form-urlencoded"),
  form_search: (base) => form(`${base}/admin/evidence/panel/`, { q: "x" }, "application/x-www-form-urlencoded", "GET"),
  window: (base) => new Promise((end) => {
    const opened = window.open(`${base}/admin/`);
    setTimeout(() => {
      try { end(opened.document?.URL === "about:blank" ? null : opened.document.body.textContent); } catch { end(null); }
    }, 1500);
  }),
};

window.attack = async (base) => {
  const outcomes = {};
  await Promise.all(Object.entries(ATTACKS).map(async ([name, run]) => {
    try { outcomes[name] = (await within(run(base))) ?? null; } catch { outcomes[name] = null; }
  }));
  return outcomes;
};
