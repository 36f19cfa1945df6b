// Draws a graph (cytoscape) from the JSON of its page. The page has the same nodes and links as tables.
"use strict";
(() => {
  const section = document.querySelector("section.graph[data-graph]");
  if (!section || typeof cytoscape === "undefined") return;
  const find = (selector) => section.querySelector(selector);
  const panel = find(".graph-panel");
  const note = find(".graph-note");
  const form = find(".graph-tools");
  const hint = panel.firstElementChild;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // Nodes that one page can draw. Raised, the layout and each frame take longer.
  const NODES = 1500;
  // Marks of the legend; the last one is for all other labels.
  const OTHERS = 7;
  // Labels that one node shows by colour.
  const SLICES = 3;
  // Nodes whose names are legible at each zoom: the most connected ones, or the neighbours of the chosen one.
  const NAMED = 12;
  const NAMED_NEAR = 40;
  const marks = new Map();
  for (const link of section.querySelectorAll("[data-label]")) marks.set(link.dataset.label, Number(link.dataset.mark));

  // Room around the drawing, for the buttons. Raised, the drawing becomes smaller.
  const PADDING = 48;

  // Links whose other end is not drawn yet.
  const waiting = new Map();
  let total = { nodes: 0, links: 0 };
  let chosen = null;

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    const series = [];
    for (let mark = 1; mark <= OTHERS + 1; mark += 1) series.push(of(`--series-${mark}`));
    return { series, ground: of("--ground"), edge: of("--graph-edge"), text: of("--text"), quiet: of("--quiet"), accent: of("--accent") };
  }

  function style() {
    const colour = colours();
    const font = getComputedStyle(document.body).fontFamily;
    const rules = [
      {
        selector: "node",
        style: {
          label: "data(name)", width: "data(size)", height: "data(size)", "background-color": colour.quiet,
          color: colour.text, "font-size": 11, "font-family": font, "min-zoomed-font-size": 8,
          "text-valign": "bottom", "text-margin-y": 3, "text-wrap": "ellipsis", "text-max-width": 130,
          "text-outline-color": colour.ground, "text-outline-width": 2,
          "border-width": 1.5, "border-color": colour.ground,
        },
      },
      {
        selector: "edge",
        style: {
          width: 1.2, "line-color": colour.edge, "target-arrow-color": colour.edge, "target-arrow-shape": "triangle",
          "arrow-scale": 0.8, "curve-style": "bezier", color: colour.quiet, "font-size": 10, "font-family": font,
          "text-outline-color": colour.ground, "text-outline-width": 2, "text-rotation": "autorotate",
        },
      },
      { selector: "node.dim", style: { opacity: 0.2, "text-opacity": 0 } },
      { selector: "edge.dim", style: { opacity: 0.15 } },
      { selector: "edge.near", style: { label: "data(relation)", "line-color": colour.accent, "target-arrow-color": colour.accent, width: 2, "z-index": 5 } },
      { selector: "node.near", style: { "z-index": 5 } },
      { selector: "node.chosen", style: { "border-width": 4, "border-color": colour.accent, "font-weight": "bold", "z-index": 9 } },
    ];
    // A node with several labels of the legend is a pie of their colours.
    const pie = { "pie-size": "100%" };
    for (let slice = 0; slice < SLICES; slice += 1) {
      pie[`pie-${slice + 1}-background-color`] = (node) => colour.series[node.data("marks")[slice]] ?? colour.quiet;
      pie[`pie-${slice + 1}-background-size`] = (node) => (slice < node.data("marks").length ? 100 / node.data("marks").length : 0);
    }
    rules.splice(1, 0, { selector: "node.pie", style: pie });
    colour.series.forEach((value, mark) => rules.splice(1 + mark, 0, { selector: `node.mark-${mark}`, style: { "background-color": value } }));
    return rules;
  }

  find(".graph-stage").hidden = false;
  const cy = cytoscape({
    container: find(".graph-canvas"),
    style: style(),
    minZoom: 0.05,
    maxZoom: 4,
    boxSelectionEnabled: false,
    autounselectify: true,
    pixelRatio: "auto",
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(style()));

  function say(text) {
    note.textContent = text;
  }

  function number(value) {
    return value.toLocaleString("en-US");
  }

  function tell(cut) {
    const shown = cy.nodes().length;
    const rest = shown < total.nodes ? " The rest appears as you click, or as you search." : "";
    const first = shown < total.nodes ? `${number(shown)} of ${number(total.nodes)} nodes are drawn, the most connected first.` : `All ${number(shown)} nodes are drawn.`;
    say(`${first}${cut ? " A bound left out some neighbours." : ""}${rest}`);
  }

  async function load(address) {
    const answer = await fetch(address, { headers: { accept: "application/json" }, credentials: "same-origin" });
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.hint ? `${data.error}: ${data.hint}` : data.error);
    return data;
  }

  function marksOf(labels) {
    const known = labels.filter((label) => marks.has(label)).map((label) => marks.get(label));
    if (known.length === 0 && labels.length > 0) return [OTHERS];
    return known.slice(0, SLICES);
  }

  // Keeps some names at one size on the screen, whatever the zoom.
  const OWN = "font-size text-max-width text-outline-width min-zoomed-font-size";
  let named = cy.collection();
  function name() {
    const near = chosen === null ? cy.collection() : cy.getElementById(chosen).closedNeighborhood().nodes();
    const most = cy.nodes().sort((a, b) => b.data("size") - a.data("size")).slice(0, NAMED);
    const next = near.length > NAMED_NEAR || near.empty() ? most.union(cy.nodes(".chosen")) : near;
    named.difference(next).removeStyle(OWN);
    named = next;
    size();
  }
  function size() {
    const by = 1 / cy.zoom();
    if (by > 1) named.style({ "font-size": 11 * by, "text-max-width": 130 * by, "text-outline-width": 2 * by, "min-zoomed-font-size": 0 });
    else named.removeStyle(OWN);
  }

  // Adds what is new, near `from` if that node is given. Returns the new nodes.
  function add(data, from) {
    total = { nodes: data.total, links: data.total_links };
    const fresh = data.nodes.filter((node) => cy.getElementById(node.id).empty());
    const room = Math.max(0, NODES - cy.nodes().length);
    const place = from && from.nonempty() ? from.position() : null;
    const radius = 70 + 9 * Math.sqrt(fresh.length) * 2;
    let added = cy.collection();
    cy.batch(() => {
      fresh.slice(0, room).forEach((node, at) => {
        const shown = marksOf(node.labels);
        const turn = (2 * Math.PI * at) / Math.min(fresh.length, room);
        const ring = radius * (1 + 0.35 * (at % 3));
        added = added.union(cy.add({
          group: "nodes",
          classes: shown.length > 1 ? "pie" : shown.map((mark) => `mark-${mark}`).join(" "),
          data: { id: node.id, name: node.name, labels: node.labels, marks: shown, panel: node.panel, size: 10 + 4 * Math.sqrt(node.links) },
          position: place ? { x: place.x + ring * Math.cos(turn), y: place.y + ring * Math.sin(turn) } : undefined,
        }));
      });
      for (const link of data.links) waiting.set(`${link.from} ${link.relation} ${link.to}`, link);
      for (const [id, link] of waiting) {
        if (cy.getElementById(link.from).empty() || cy.getElementById(link.to).empty()) continue;
        waiting.delete(id);
        if (cy.getElementById(id).empty()) cy.add({ group: "edges", data: { id, source: link.from, target: link.to, relation: link.relation } });
      }
    });
    return added;
  }

  // Lays out in small steps between frames, so that the page stays usable. Nodes outside of `fresh` keep their places.
  function arrange(fresh) {
    const old = cy.nodes().difference(fresh);
    old.lock();
    const whole = old.empty();
    const layout = cy.layout({
      name: "cose", animate: true, refresh: 3, fit: whole, padding: PADDING, randomize: whole,
      numIter: whole ? 420 : 120, initialTemp: whole ? 300 : 60, coolingFactor: whole ? 0.985 : 0.95, minTemp: 1,
      nodeRepulsion: () => 9000, idealEdgeLength: () => 60, edgeElasticity: () => 120, gravity: 0.6,
      componentSpacing: 60, nodeOverlap: 12, nestingFactor: 1,
    });
    return new Promise((done) => {
      layout.one("layoutstop", () => {
        old.unlock();
        done();
      });
      layout.run();
    });
  }

  function choose(node) {
    chosen = node.id();
    cy.elements().removeClass("chosen near");
    node.addClass("chosen");
    const edges = node.connectedEdges();
    edges.addClass("near");
    edges.connectedNodes().addClass("near");
    name();
  }

  function show(node) {
    htmx.ajax("GET", node.data("panel"), { target: panel, swap: "innerHTML" });
  }

  function around(id) {
    const address = new URL(section.dataset.graph, location.href);
    address.searchParams.delete("q");
    address.searchParams.set("around", id);
    address.searchParams.set("depth", form.elements.depth.value);
    return address;
  }

  // Draws the neighbours of a node, chooses it and shows its details.
  async function open(id) {
    try {
      const before = cy.getElementById(id);
      if (before.nonempty()) {
        choose(before);
        show(before);
      }
      const data = await load(around(id));
      const fresh = add(data, before.nonempty() ? before : null);
      name();
      const node = cy.getElementById(id);
      if (node.empty()) return say("No more nodes fit into the drawing. Reset it to go on.");
      choose(node);
      if (before.empty()) show(node);
      tell(data.cut);
      if (fresh.nonempty()) await arrange(fresh);
      move(node.closedNeighborhood());
    } catch (error) {
      say(String(error.message));
    }
  }

  // Shows some nodes as large as they fit, but not larger than life.
  function move(nodes) {
    const box = nodes.boundingBox();
    const zoom = Math.min(1.25, (cy.width() - 2 * PADDING) / box.w, (cy.height() - 2 * PADDING) / box.h);
    const view = { zoom, center: { eles: nodes } };
    if (still.matches) cy.animate(view, { duration: 0 });
    else cy.animate(view, { duration: 300 });
  }

  async function begin() {
    say("Drawing…");
    try {
      cy.elements().remove();
      waiting.clear();
      chosen = null;
      panel.replaceChildren(hint);
      const data = await load(section.dataset.graph);
      const fresh = add(data, null);
      const middle = new URL(section.dataset.graph, location.href).searchParams.get("around");
      tell(data.cut && middle !== null);
      name();
      if (fresh.empty()) return say("Nothing to draw at this moment.");
      await arrange(fresh);
      move(cy.elements());
      const node = middle ? cy.nodes().filter((it) => it.id() === middle || it.data("name") === middle) : cy.collection();
      if (node.nonempty()) {
        choose(node[0]);
        show(node[0]);
      }
    } catch (error) {
      say(String(error.message));
    }
  }

  async function search(words) {
    const address = new URL(section.dataset.graph, location.href);
    address.searchParams.delete("around");
    address.searchParams.set("q", words);
    try {
      const data = await load(address);
      const list = document.createElement("ul");
      list.className = "graph-hits";
      for (const node of data.nodes) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = node.name;
        button.addEventListener("click", () => open(node.id));
        const item = document.createElement("li");
        item.append(button);
        list.append(item);
      }
      const title = document.createElement("h2");
      title.textContent = data.nodes.length > 0 ? `Found: ${data.nodes.length}` : "No concept fits.";
      panel.replaceChildren(title, list);
      list.querySelector("button")?.focus();
    } catch (error) {
      say(String(error.message));
    }
  }

  cy.on("tap", "node", (event) => open(event.target.id()));
  cy.on("tap", (event) => {
    if (event.target !== cy) return;
    chosen = null;
    cy.elements().removeClass("chosen near");
    name();
  });
  cy.on("zoom", size);
  cy.on("mouseover", "node", (event) => {
    find(".graph-canvas").classList.add("pointed");
    if (chosen === null) event.target.connectedEdges().addClass("near");
  });
  cy.on("mouseout", "node", (event) => {
    find(".graph-canvas").classList.remove("pointed");
    if (chosen === null) event.target.connectedEdges().removeClass("near");
  });

  section.addEventListener("click", (event) => {
    const view = event.target.closest("[data-view]");
    if (view) {
      const middle = { x: cy.width() / 2, y: cy.height() / 2 };
      if (view.dataset.view === "in") cy.zoom({ level: cy.zoom() * 1.4, renderedPosition: middle });
      if (view.dataset.view === "out") cy.zoom({ level: cy.zoom() / 1.4, renderedPosition: middle });
      if (view.dataset.view === "fit") move(cy.elements());
      if (view.dataset.view === "reset") begin();
      return;
    }
    const label = event.target.closest("[data-label]");
    if (!label || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const off = label.getAttribute("aria-pressed") === "true";
    for (const other of section.querySelectorAll("[data-label]")) other.setAttribute("aria-pressed", "false");
    label.setAttribute("aria-pressed", String(!off));
    cy.elements().removeClass("dim");
    if (!off) {
      const dim = cy.nodes().filter((node) => !node.data("labels").includes(label.dataset.label));
      dim.addClass("dim");
      dim.connectedEdges().addClass("dim");
    }
  });
  form.addEventListener("submit", (event) => {
    const words = form.elements.q?.value.trim();
    if (!words) return;
    event.preventDefault();
    search(words);
  });
  for (const label of section.querySelectorAll("[data-label]")) {
    label.setAttribute("role", "button");
    label.setAttribute("aria-pressed", "false");
  }

  begin();
})();
