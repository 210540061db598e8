import { describe, expect, it } from 'vitest';
import { firstOom } from './data';
import { expectNoErrors, FRAGMENTATION, LEAK, openTab, sees, seesStory, useBrowser } from './tab';

useBrowser();

describe('somebody who only knows that training died', () => {
  it('reads, without a click, which operation asked for how much and why it did not fit', async () => {
    const opened = await openTab();
    await seesStory(opened);
    const story = opened.tab.locator('.story').first();
    const text = await story.innerText();
    const { opening, request, verdict, remedies } = await firstOom(FRAGMENTATION);
    expect(text).toContain(verdict.sentence);
    // In the words of the command.
    expect(opening.whatHappened).toContain(request.opName);
    expect(text).toContain(opening.whatHappened);
    for (const holder of opening.holders) expect(text).toContain(holder);
    expect(text).toContain(remedies[0]?.code);
    expect(text).toMatch(/Largest hole/);
    expect(text).toMatch(/lay in \d+ separate holes/);
    expect(text).toContain('Fragmentation');
    expect(text).toMatch(/What to change\s.*enough alone/s);
    expectNoErrors(opened);
  });

  it('follows a number to the view that proves it', async () => {
    const opened = await openTab();
    await seesStory(opened);
    await opened.tab.getByRole('button', { name: /In use$/ }).first().click();
    await sees(opened, /^[\d,]+ allocations hold/);
    expect(opened.page.url()).toContain('p.oom_forensics.view=live');
  });

  it('sees the newest run when the link names none', async () => {
    const opened = await openTab({ link: {} });
    await opened.tab.getByLabel('Run', { exact: true }).waitFor();
    expect(await opened.tab.getByLabel('Run', { exact: true }).inputValue()).not.toBe('');
  });
});

describe('somebody whose training went well', () => {
  it('reads how close it came, who held the most, and what leaks', async () => {
    const opened = await openTab({ link: { run: LEAK } });
    await sees(opened, 'No out-of-memory error');
    await sees(opened, /place keeps? more memory|places keep more memory/);
    const text = await opened.tab.locator('.story').first().innerText();
    expect(text).toMatch(/At its peak [\d.]+ MiB were in use/);
    expect(text).toMatch(/Who held the most at the peak\s.*[\d.]+ MiB in \d+/s);
    await opened.tab.getByRole('button', { name: /more memory with every step/ }).click();
    await sees(opened, 'What does not go away');
    await sees(opened, /per step \(95 % sure/);
    expectNoErrors(opened);
  });
});

describe('somebody whose job was killed', () => {
  it('reads how it ended and who held most, and not that there was no out-of-memory error', async () => {
    const opened = await openTab({ link: { run: 'killed/2026_01_02_03_04_05' } });
    await sees(opened, 'The process ended without a message');
    const text = await opened.tab.locator('.story').first().innerText();
    expect(text).toMatch(/^Ended\s/);
    expect(text).toMatch(/Who held most memory of the host\s.*in [\d,]+ blocks: grow\.py:35/s);
    expect(text).not.toContain('No out-of-memory error');
    await opened.tab.getByRole('button', { name: 'All of them' }).click();
    await sees(opened, 'Live blocks by line of the program');
    expectNoErrors(opened);
  });
});

describe('a name that was made to break the page', () => {
  it('is shown as the text that it is', async () => {
    const opened = await openTab({ link: { run: 'hostile/2026_01_02_03_04_05', view: 'live' } });
    await seesStory(opened);
    await sees(opened, '<img src=x onerror="parent.broken=1">');
    expect(await opened.page.evaluate(() => 'broken' in window)).toBe(false);
  });
});

describe('a run of several hosts', () => {
  it('lets the reader choose whose memory is shown', async () => {
    const opened = await openTab({ link: { run: 'two_hosts/2026_01_02_03_04_05' } });
    await opened.tab.getByLabel('Host', { exact: true }).selectOption('worker-1');
    await seesStory(opened);
    expect(opened.page.url()).toContain('p.oom_forensics.host=worker-1');
    expectNoErrors(opened);
  });
});
