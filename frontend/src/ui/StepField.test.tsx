import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, expect, it } from 'vitest';
import { StepField } from './StepField';

const taken: bigint[] = [];

function draw(value: bigint | undefined): HTMLInputElement {
  const take = (step: bigint) => taken.push(step);
  act(() =>
    render(
      <StepField label="Step" value={value} first={1n} last={40n} onChange={take} />,
      document.body,
    ),
  );
  const input = document.querySelector('input');
  if (!input) throw new Error('there is no field');
  return input;
}

function send(input: HTMLInputElement, event: 'input' | 'change'): void {
  act(() => {
    input.dispatchEvent(new Event(event, { bubbles: true }));
  });
}

afterEach(() => {
  render(null, document.body);
  taken.length = 0;
});

it('keeps what is being typed while the page is drawn again, and takes it when it is done', () => {
  const input = draw(undefined);
  input.value = '37';
  send(input, 'input');
  draw(undefined);
  expect(input.value).toBe('37');
  expect(taken).toEqual([]);
  send(input, 'change');
  expect(taken).toEqual([37n]);
});

it('shows the step that was chosen elsewhere', () => {
  const input = draw(3n);
  expect(input.value).toBe('3');
  draw(12n);
  expect(input.value).toBe('12');
  draw(undefined);
  expect(input.value).toBe('');
});
