// The dashboard's live channel: which panels change, told by their ids. What a page makes of it is the page's own.
// Cut off, it calls again after a while that doubles; who is not logged in any more is not called again.
const NOT_LOGGED_IN = 4401;
const SOONEST_MS = 1000;
const LATEST_MS = 30000;
// Seats of a panel often end together: what is told within this time is told once.
const TOGETHER_MS = 150;

// Call `changed` with the ids that have changed, and with none after a gap in which any may have. Where the page shows something
// that runs, the time from its making until it listens is such a gap.
export function listen(changed, running) {
  const heard = new Set();
  let wait = SOONEST_MS;
  let timer = 0;

  function tell() {
    timer = 0;
    const ids = [...heard];
    heard.clear();
    changed(ids);
  }

  function soon() {
    timer ||= setTimeout(tell, TOGETHER_MS);
  }

  function connect(gap) {
    const address = new URL("/admin/live/", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    socket.addEventListener("open", () => {
      wait = SOONEST_MS;
      if (gap) soon();
    });
    socket.addEventListener("message", (event) => {
      heard.add(JSON.parse(event.data).panel);
      soon();
    });
    socket.addEventListener("close", (event) => {
      if (event.code === NOT_LOGGED_IN) return;
      setTimeout(connect, wait, true);
      wait = Math.min(2 * wait, LATEST_MS);
    });
  }

  connect(running);
}

// A part of a page, made by the server, or null where it could not be had.
export async function fetched(address) {
  try {
    const reply = await fetch(address, { headers: { "X-Bench-Fragment": "1" }, credentials: "same-origin" });
    if (!reply.ok || reply.redirected) return null;
    return new DOMParser().parseFromString(await reply.text(), "text/html");
  } catch {
    return null;
  }
}
