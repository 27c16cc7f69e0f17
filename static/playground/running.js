// A running panel: told by the dashboard's live channel that something ended, it looks at the seats again; meanwhile its clocks run,
// by the server's time. Where the channel is cut off it looks from time to time, and tries for another.
import { takeOver, titleOf } from "./seats.js";

const LATEST_LOOK_MS = 10_000;
const LONGEST_WAIT_MS = 15_000;

export function follow(root, say) {
  const panel = root.querySelector("[data-panel]");
  if (!panel) return () => {};
  let stopped = false;
  let socket = null;
  let wait = 500;
  let looking = null;
  let again = false;
  const clocks = setInterval(tick, 250);
  const looks = setInterval(look, LATEST_LOOK_MS);
  let ahead = offset();

  const seats = () => panel.querySelector("#play-seats");
  const running = () => Boolean(seats().dataset.running);

  function offset() {
    return Date.now() / 1000 - Number(panel.querySelector("#play-seats").dataset.now);
  }

  function tick() {
    for (const clock of panel.querySelectorAll(".play-clock")) {
      const seconds = Math.max(0, Date.now() / 1000 - ahead - Number(clock.dataset.since));
      clock.textContent = `${seconds.toFixed(1)} s`;
    }
  }

  // One look at a time; of what is told meanwhile, one more.
  async function look() {
    if (stopped || !running()) return;
    if (looking) {
      again = true;
      return;
    }
    looking = update().catch(() => {});
    await looking;
    looking = null;
    if (again) {
      again = false;
      look();
    }
  }

  async function update() {
    const address = new URL(panel.dataset.seats, location.href);
    for (const seat of panel.querySelectorAll(".play-seat")) address.searchParams.append("have", seat.dataset.mark);
    const reply = await fetch(address);
    if (!reply.ok || stopped) return;
    const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("play-seats");
    if (!fresh || stopped) return;
    const ended = takeOver(panel, fresh).filter((seat) => !seat.querySelector(".play-clock")).map(titleOf);
    ahead = offset();
    tick();
    if (!running()) end();
    if (ended.length) say(`Ended: ${ended.join(", ")}.${running() ? "" : " The panel is done."}`);
  }

  function listen() {
    if (stopped || !running()) return;
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/admin/live/`);
    socket.addEventListener("open", () => {
      wait = 500;
      look();
    });
    socket.addEventListener("message", (event) => {
      if (JSON.parse(event.data).panel === panel.dataset.panel) look();
    });
    socket.addEventListener("close", () => {
      if (stopped) return;
      setTimeout(listen, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
  }

  function end() {
    stopped = true;
    clearInterval(clocks);
    clearInterval(looks);
    socket?.close();
  }

  if (running()) {
    tick();
    listen();
  } else end();
  return end;
}
