/** The tab in a real browser, as a person sees it. */
import { type Browser, type BrowserContext, chromium, type FrameLocator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';

export const FRAGMENTATION = 'fragmentation/2026_01_02_03_04_05';

/** A training that leaks and yet ends well. */
export const LEAK = 'leak/2026_01_02_03_04_05';

/** Constructed, not recorded on a GPU: tests/gpu/make_cupti_fixture.cc tells its story. */
export const DEVICE = 'device/2026_01_02_03_04_05';

/** A device whose driver gives out each block, out of memory. */
export const NO_POOL = 'no_pool/2026_01_02_03_04_05';

/** How long anything may take to appear, on a machine that has other work to do. */
const WAIT_MS = 90_000;

export interface Opened {
  readonly page: Page;
  /** The tab inside TensorBoard. */
  readonly tab: FrameLocator | Page;
  /** Errors that the page reported. */
  readonly errors: readonly string[];
}

interface OpenOptions {
  readonly dark?: boolean;
  readonly width?: number;
  /** Parameters of the link. */
  readonly link?: Readonly<Record<string, string>>;
  readonly url?: string;
}

let browser: Browser;
let contexts: BrowserContext[] = [];

/** To be called once by each file of tests. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.connect(inject('browserEndpoint'));
  });
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    contexts = [];
  });
  afterAll(() => browser.close());
}

export async function openTab(options: OpenOptions = {}): Promise<Opened> {
  const { dark = false, width, link = { run: FRAGMENTATION } } = options;
  const base = options.url ?? inject('tensorBoardUrl');
  const { page, errors } = await openPage(
    `${base}/?darkMode=${dark}${linkFragment(link)}`,
    width,
  );
  return { page, tab: page.frameLocator('iframe'), errors };
}

/** Opens an address and collects every error, and every request to another machine. */
export async function openPage(
  url: string,
  width = 1440,
): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  contexts.push(context);
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // A dataset that the converter does not have is answered with 501; that is no error.
    if (message.type() === 'error' && !message.text().includes('501')) errors.push(message.text());
  });
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') {
      errors.push(`asked ${request.url()}`);
    }
  });
  await page.goto(url);
  return { page, errors };
}

export function linkFragment(link: Readonly<Record<string, string>>): string {
  const parameters = Object.entries(link).map(
    ([name, value]) => `&p.oom_forensics.${name}=${encodeURIComponent(value)}`,
  );
  return `#oom_forensics${parameters.join('')}`;
}

/** Waits until `text` is to be seen in the tab. */
export async function sees({ tab }: Opened, text: string | RegExp): Promise<void> {
  await tab.getByText(text).locator('visible=true').first().waitFor();
}

/** Waits until the story of an out-of-memory error is told. */
export async function seesStory({ tab }: Pick<Opened, 'tab'>): Promise<void> {
  await tab.locator('.story.out-of-memory .story-request').first().waitFor();
}

/** Waits until the detail view has its answer. */
export async function seesView({ tab }: Pick<Opened, 'tab'>): Promise<void> {
  await tab.locator('[role=tabpanel] .card[aria-busy=false]').first().waitFor();
}

/** Waits until all of the story and every card are there: an answer that comes moves what lies below. */
export async function isStill({ tab }: Pick<Opened, 'tab'>): Promise<void> {
  await seesStory({ tab });
  await expect.poll(() => tab.locator('.card[aria-busy=true]').count(), { timeout: WAIT_MS }).toBe(0);
}

/** Nothing went wrong behind what was seen, and nothing was asked of another machine. */
export function expectNoErrors({ errors }: Opened): void {
  expect(errors).toEqual([]);
}
