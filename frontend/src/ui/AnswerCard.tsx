import type { ComponentChildren } from 'preact';
import type { Quality } from '../generated/datasets_pb';
import type { Asked } from '../store/useDataset';
import { Card, type CardProps } from './Card';
import type { Cells } from './export';
import { Failed, Waiting } from './Notices';
import { QualityNotes } from './QualityNotes';

interface AnswerCardProps<Answer> extends Omit<CardProps, 'busy' | 'children' | 'exports'> {
  readonly asked: Asked<Answer>;
  /** Of the files to save, without ending. */
  readonly name: string;
  /** The table of the view, titles first. */
  readonly table?: () => Cells | Promise<Cells>;
  /** What is said until there is an answer. */
  readonly waiting?: string;
  /** What can be changed before there is an answer. */
  readonly controls?: ComponentChildren;
  readonly children: (answer: Answer) => ComponentChildren;
}

/** A card that shows the answer to a question, or why there is none; below it, what is wrong with its numbers. */
export function AnswerCard<Answer extends { readonly quality: readonly Quality[] }>({
  asked,
  name,
  table,
  waiting = 'Replaying up to this moment…',
  controls,
  children,
  ...card
}: AnswerCardProps<Answer>) {
  const { data, error, loading, question } = asked;
  return (
    <Card {...card} busy={loading} exports={{ name, question, ...(table && { table }) }}>
      {controls}
      {error && <Failed error={error} />}
      {!data && loading && question && <Waiting run={question.run} what={waiting} />}
      {data && children(data)}
      {data && <QualityNotes quality={data.quality} />}
    </Card>
  );
}
