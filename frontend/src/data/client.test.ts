import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { AllocationsSchema, GroupBy } from '../generated/datasets_pb';
import { Client, questionOf } from './client';
import { ALLOCATIONS } from './query';
import { DatasetError, type Question, type Source } from './source';

/** A source in memory that counts what it is asked. */
class MemorySource implements Source {
  asked: Question[] = [];
  version = '1';
  constructor(private readonly body: Uint8Array) {}
  async runs() {
    return [];
  }
  async ask(question: Question, signal?: AbortSignal) {
    this.asked.push(question);
    await Promise.resolve();
    signal?.throwIfAborted();
    return this.body;
  }
  versionOf() {
    return this.version;
  }
  async fileOf() {
    return new Blob([]);
  }
  cancel() {}
  async progress() {
    return undefined;
  }
}

const ANSWER = toBinary(
  AllocationsSchema,
  create(AllocationsSchema, { totalAllocatedBytes: 18_446_744_073_709_551_615n }),
);

describe('questionOf', () => {
  it('is the canonical JSON of the query, whatever the order of its fields', () => {
    const one = questionOf(ALLOCATIONS, 'r', { limit: 5, groupBy: GroupBy.GROUP_OP });
    const other = questionOf(ALLOCATIONS, 'r', { groupBy: GroupBy.GROUP_OP, limit: 5 });
    expect(one).toEqual(other);
    expect(JSON.parse(one.query)).toEqual({
      dataset: 'ALLOCATIONS',
      groupBy: 'GROUP_OP',
      limit: 5,
    });
  });

  it('writes 64-bit numbers as strings', () => {
    const { query } = questionOf(ALLOCATIONS, 'r', {
      filter: { fromNs: 1_790_000_000_000_000_001n },
    });
    expect(JSON.parse(query).filter.fromNs).toBe('1790000000000000001');
  });
});

describe('Client', () => {
  const question = questionOf(ALLOCATIONS, 'r', {});

  it('keeps all 64 bits of an answer, and asks only once for it', async () => {
    const source = new MemorySource(ANSWER);
    const client = new Client(source);
    const first = await client.ask(ALLOCATIONS, question);
    expect(first.totalAllocatedBytes).toBe(18_446_744_073_709_551_615n);
    expect(await client.ask(ALLOCATIONS, question)).toBe(first);
    expect(source.asked).toHaveLength(1);
  });

  it('does not mix up two runs', async () => {
    const source = new MemorySource(ANSWER);
    const client = new Client(source);
    await client.ask(ALLOCATIONS, question);
    await client.ask(ALLOCATIONS, { ...question, run: 'other' });
    expect(source.asked).toHaveLength(2);
  });

  it('asks again after a reload', async () => {
    const source = new MemorySource(ANSWER);
    const client = new Client(source);
    await client.ask(ALLOCATIONS, question);
    client.clear();
    expect(client.peek(ALLOCATIONS, question)).toBeUndefined();
  });

  it('does not keep what was on its way while everything was forgotten', async () => {
    const client = new Client(new MemorySource(ANSWER));
    const answer = client.ask(ALLOCATIONS, question);
    client.clear();
    await answer;
    expect(client.peek(ALLOCATIONS, question)).toBeUndefined();
  });

  it('does not take the answer of an older trace for that of a newer one', async () => {
    const source = new MemorySource(ANSWER);
    const client = new Client(source);
    await client.ask(ALLOCATIONS, question);
    source.version = '2';
    expect(client.peek(ALLOCATIONS, question)).toBeUndefined();
  });

  it('ends what is waited for of one run, and answers what is asked afterwards', async () => {
    const client = new Client(new MemorySource(ANSWER));
    const cancelled = client.ask(ALLOCATIONS, question);
    const other = client.ask(ALLOCATIONS, { ...question, run: 'other' });
    client.cancel('r');
    await expect(cancelled).rejects.toThrow('The work was cancelled.');
    await expect(other).resolves.toBeDefined();
    await expect(client.ask(ALLOCATIONS, question)).resolves.toBeDefined();
  });

  it('forgets old answers rather than grow without bound', async () => {
    const client = new Client(new MemorySource(ANSWER), 2 * ANSWER.byteLength);
    const questions = ['a', 'b', 'c'].map((run) => ({ ...question, run }));
    for (const each of questions) await client.ask(ALLOCATIONS, each);
    const kept = questions.map((each) => client.peek(ALLOCATIONS, each) !== undefined);
    expect(kept).toEqual([false, true, true]);
  });

  it('says in a sentence that an answer cannot be read', async () => {
    const client = new Client(new MemorySource(Uint8Array.of(0xff, 0xff)));
    await expect(client.ask(ALLOCATIONS, question)).rejects.toBeInstanceOf(DatasetError);
  });
});
