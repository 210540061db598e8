import { describe, expect, it } from 'vitest';
import { DEVICE, expectNoErrors, FRAGMENTATION, openTab, sees, seesStory, seesView, useBrowser } from './tab';

useBrowser();

describe('a device whose memory others hold', () => {
  it('is the verdict of the story', async () => {
    const opened = await openTab({ link: { run: DEVICE } });
    await seesStory(opened);
    const story = opened.tab.locator('.story').first();
    expect(await story.innerText()).toContain('Device held by others');
    await sees(opened, /but the device had no room for it/);
    expectNoErrors(opened);
  });

  it('is told by kind of memory, by library and by pool of the driver', async () => {
    const opened = await openTab({ link: { run: DEVICE, view: 'driver' } });
    await seesView(opened);
    const card = opened.tab.getByRole('region', {
      name: 'Driver memory of constructed device',
      exact: true,
    });
    await card.getByText('the device was full').waitFor();
    const rows = card.getByRole('region', { name: /^Table: Driver memory by kind/ });
    const rowOf = (name: string) => rows.getByRole('row').filter({ hasText: name });
    expect(await rowOf('libcudnn.so.9').innerText()).toMatch(/^device\s.*512.0 MiB/s);
    expect(await rowOf('libmy_kernels.so').innerText()).toMatch(/^managed\s.*128.0 MiB/s);
    expect(await rowOf('libtensorflow_cc.so.2').innerText()).toContain('pinned (in the host)');
    // Two regions of TensorFlow's pool.
    expect(await rowOf("TensorFlow's pool").innerText()).toMatch(/6\.00 GiB/);
    await card.getByText("The driver's own pools (cudaMallocAsync)").waitFor();
    await card.getByText('Show every look at the device').click();
    await card.getByRole('row').filter({ hasText: 'region growth' }).first().waitFor();
    expectNoErrors(opened);
  });

  it('is drawn as a band over the timeline, in step with the driver view', async () => {
    const opened = await openTab({ link: { run: DEVICE, view: 'driver' } });
    await sees(opened, 'the rest of constructed device');
    const chart = opened.tab.locator('.time-chart .u-over').first();
    const box = await chart.boundingBox();
    await chart.hover({ position: { x: (box?.width ?? 0) * 0.9, y: 60 } });
    await sees(opened, /taken on the device [\d.]+ GiB/);
    await opened.tab.getByRole('img', { name: /^Driver memory over time/ }).focus();
    await opened.page.keyboard.press('+');
    await expect.poll(() => opened.page.url()).toContain('window=');
    expectNoErrors(opened);
  });

  it('is said to be missing where no device was looked at, and why', async () => {
    const opened = await openTab({ link: { run: FRAGMENTATION, view: 'driver' } });
    await sees(opened, 'No device memory was recorded');
    const why = opened.tab.locator('[role=tabpanel] .notice.empty p');
    expect(await why.innerText()).toMatch(/CUDA|CUPTI|GPU/);
  });
});
