import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { useEffect, useRef, useState } from 'preact/hooks';
import { questionOf } from '../data/client';
import type { Dataset, QueryFields } from '../data/query';
import { DatasetError, type Question } from '../data/source';
import { client, reloads, retries } from './session';

/** An answer on its way. While a new one is fetched the last one stays in `data`. */
export interface Asked<Message> {
  readonly data: Message | undefined;
  readonly error: DatasetError | undefined;
  readonly loading: boolean;
  readonly question: Question | undefined;
}

/** What is asked, or undefined while it cannot be asked yet. */
export type Ask = {
  readonly run: string;
  readonly otherRun?: string;
  readonly fields: QueryFields;
};

/** Keeps a component supplied with the answer to a question that changes. */
export function useDataset<Schema extends DescMessage>(
  dataset: Dataset<Schema>,
  ask: Ask | undefined,
): Asked<MessageShape<Schema>> {
  const question = ask && questionOf(dataset, ask.run, ask.fields, ask.otherRun);
  const key = question && JSON.stringify(question);
  const [answer, setAnswer] = useState<{
    readonly key: string;
    readonly run: string;
    readonly data?: MessageShape<Schema>;
    readonly error?: DatasetError;
  }>();
  const latest = useRef(key);
  latest.current = key;
  const again = reloads.value + retries.value;

  // Key stands for the question
  useEffect(() => {
    if (!question || key === undefined) return;
    const controller = new AbortController();
    setAnswer((before) => (before?.error ? undefined : before));
    client()
      .ask(dataset, question, controller.signal)
      .then(
        (data) => latest.current === key && setAnswer({ key, run: question.run, data }),
        (error: unknown) => {
          if (controller.signal.aborted || latest.current !== key) return;
          setAnswer({ key, run: question.run, error: DatasetError.of(error) });
        },
      );
    return () => controller.abort();
  }, [key, again]);

  const cached = question && client().peek(dataset, question);
  // The last answer of another run would tell a wrong story: it is not shown.
  const stale = answer && question && answer.run === question.run ? answer.data : undefined;
  const current = answer?.key === key ? answer : undefined;
  return {
    data: cached ?? current?.data ?? (current?.error ? undefined : stale),
    error: cached ? undefined : current?.error,
    loading: question !== undefined && !cached && !current,
    question,
  };
}
