import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Frame, Page } from "playwright-core";
import { startChromium } from "./chromium.ts";
import type { RealServer } from "./real-session.ts";

/** Temporal Web's own request, which is about Temporal and not about any workflow. */
const NEWS = "https://newsfeed.temporal.io/";
const PATIENCE_MS = 20_000;

export type Tab =
  | "timeline"
  | "history"
  | "pending-activities"
  | "user-metadata"
  | "search-attributes"
  | "memo";

/** A person in front of Temporal Web. */
export class TemporalWeb {
  readonly page: Page;
  /** What pages asked of other hosts, and dialogs that they opened. */
  readonly intrusions: string[] = [];
  readonly #browser: Browser;
  readonly #server: RealServer;

  private constructor(browser: Browser, page: Page, server: RealServer) {
    this.#browser = browser;
    this.#server = server;
    this.page = page;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("request", (request) => {
      const url = request.url();
      const isOwn = [server.web, NEWS, "data:", "blob:"].some((start) => url.startsWith(start));
      if (!isOwn) this.intrusions.push(url);
    });
    page.on("dialog", (dialog) => {
      this.intrusions.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  static async open(server: RealServer, size = { width: 1500, height: 1400 }): Promise<TemporalWeb> {
    const browser = await startChromium();
    const page = await browser.newPage({ viewport: size });
    return new TemporalWeb(browser, page, server);
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  /** Open a page of a workflow's latest run. */
  async openWorkflow(workflowId: string, tab: Tab): Promise<void> {
    const { runId } = await this.#server.environment.client.workflow.getHandle(workflowId).describe();
    await this.#goTo(`/namespaces/default/workflows/${encodeURIComponent(workflowId)}/${runId}/${tab}`);
  }

  async openList(query: string): Promise<void> {
    await this.#goTo(`/namespaces/default/workflows?query=${encodeURIComponent(query)}`);
  }

  /** Do to the workflow what a button, or an entry of the menu beside it, is named after, and confirm it. */
  async act(name: "Request Cancellation" | "Terminate"): Promise<void> {
    if (name === "Terminate") await this.page.getByRole("button", { name: "More Actions" }).click();
    const entry = name === "Terminate" ? "menuitem" : "button";
    await this.page.getByRole(entry, { name }).click();
    const dialog = this.page.getByRole("dialog").or(this.page.getByRole("alertdialog"));
    await dialog.getByRole("button", { name: name === "Terminate" ? name : "Confirm" }).click();
  }

  /** Set the columns of the list, as its button for columns does. */
  async setColumns(labels: string[]): Promise<void> {
    const columns = JSON.stringify({ default: labels.map((label) => ({ label })) });
    await this.page.addInitScript(
      (value) => localStorage.setItem("namespace-workflow-table-columns", value),
      columns,
    );
  }

  /** Wait until a page shows all of these texts, in itself or in a frame; the error has the page's text and a picture of it. */
  async sees(...texts: string[]): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const seen = await this.read();
      const missing = texts.filter((text) => !seen.includes(text));
      if (missing.length === 0) return seen;
      if (Date.now() > deadline) {
        const picture = path.join(await mkdtemp(path.join(tmpdir(), "temporal-web-")), "page.png");
        await this.page.screenshot({ path: picture, fullPage: true });
        throw new Error(`not on ${this.page.url()}: ${JSON.stringify(missing)}; see ${picture}\n${seen}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** What the page and its frames say, white space folded. */
  async read(): Promise<string> {
    const texts = this.page.frames().map((frame) =>
      frame
        .locator("body")
        // biome-ignore lint/performance/useDomNodeTextContent: what is seen counts, not what is there
        .innerText({ timeout: 1000 })
        .catch(() => ""),
    );
    return (await Promise.all(texts)).join("\n").replace(/\s+/g, " ");
  }

  /** The cells of the table in the details, row by row. */
  async readTable(): Promise<string[][]> {
    return await this.#look(async (frame) => {
      const rows = await frame.locator("table tbody tr").all();
      if (rows.length === 0) return undefined;
      return await Promise.all(rows.map(async (row) => await row.locator("td").allInnerTexts()));
    });
  }

  /** What is in the current details, whose first words are given, that could load or run something. */
  async readActiveContent(beginning: string): Promise<string[]> {
    const selector = "main :is(script, img, iframe, a, object, embed, style, form, svg)";
    return await this.#look(async (frame) => {
      // biome-ignore lint/performance/useDomNodeTextContent: what is seen counts, not what is there
      if (!(await frame.locator("main").innerText()).trim().startsWith(beginning)) return undefined;
      return await frame.locator(selector).evaluateAll((found) => found.map((element) => element.outerHTML));
    });
  }

  /** Look into the frames that show Markdown until one has what is wanted; frames come and go as a page is refreshed. */
  async #look<Seen>(look: (frame: Frame) => Promise<Seen | undefined>): Promise<Seen> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      for (const frame of this.page.frames()) {
        if (!frame.url().includes("/render")) continue;
        const seen = await look(frame).catch(() => undefined);
        if (seen !== undefined) return seen;
      }
      if (Date.now() > deadline) throw new Error(`not found on ${this.page.url()}: ${await this.read()}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #goTo(address: string): Promise<void> {
    await this.page.goto(`${this.#server.web}${address}`, { waitUntil: "domcontentloaded" });
  }
}
