import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { decode } from './decode';
import * as queries from './query';

const ANSWERS = Object.values(queries).flatMap((each): DescMessage[] =>
  typeof each === 'object' ? [each.schema] : [],
);
const NUMBERS = [1n, 127n, 128n, (1n << 35n) + 5n, (1n << 53n) + 1n, (1n << 62n) + 3n];

/** A message with something in each field, `deep` levels of it. */
function filled(schema: DescMessage, deep: number): ReturnType<typeof create> {
  const one = (field: DescField, turn: number): unknown => {
    if (field.message) return filled(field.message, deep - 1);
    if (field.enum) return 1;
    const number = NUMBERS[(field.number + turn) % NUMBERS.length] ?? 0n;
    switch (field.scalar) {
      case 9:
        return turn === 0 ? 'größer, 大' : 'op';
      case 12:
        return Uint8Array.of(0, 255, turn);
      case 8:
        return true;
      case 1:
        return 0.1 * field.number;
      case 13:
        return 4_000_000_000 + turn;
      case 5:
        return -3 - turn;
      case 3:
      case 18:
        return turn === 0 ? -number : number;
      default:
        return turn === 0 ? (1n << 64n) - number : number;
    }
  };
  return create(
    schema,
    Object.fromEntries(
      schema.fields
        .filter(({ message }) => !message || deep > 0)
        .map((field) => [
          field.localName,
          field.fieldKind === 'list' ? [0, 1, 2].map((turn) => one(field, turn)) : one(field, 0),
        ]),
    ),
  );
}

describe('decode', () => {
  it.each(ANSWERS)('reads what the library reads: $typeName', (schema) => {
    for (const deep of [0, 2]) {
      const bytes = toBinary(schema, filled(schema, deep));
      expect(toJson(schema, decode(schema, bytes))).toEqual(
        toJson(schema, fromBinary(schema, bytes)),
      );
    }
  });

  it.each(ANSWERS)('has what was left out: $typeName', (schema) => {
    const read: Readonly<Record<string, unknown>> = decode(schema, new Uint8Array());
    for (const [name, value] of Object.entries(create(schema))) expect(read[name]).toEqual(value);
  });

  it('skips fields of a newer converter', () => {
    const newer = Uint8Array.of(
      0xf8,
      0x7f,
      5,
      0xfa,
      0x7f,
      2,
      7,
      7,
      0xf9,
      0x7f,
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
    );
    expect(decode(queries.LEAKS.schema, newer)).toEqual(
      decode(queries.LEAKS.schema, new Uint8Array()),
    );
  });

  it('refuses what is cut off', () => {
    const schema: DescMessage = queries.FRAGMENTATION.schema;
    const bytes = toBinary(schema, filled(schema, 2));
    expect(() => decode(schema, bytes.subarray(0, bytes.length - 1))).toThrow();
    expect(() => decode(schema, Uint8Array.of(0x0a))).toThrow();
  });
});
