import { useId } from 'preact/hooks';
import { formatBytes } from '../../format/bytes';
import { Select } from '../../ui/Select';
import { TextField } from '../../ui/TextField';
import {
  AS_RECORDED,
  type Choice,
  FLOAT_TYPES,
  LIMIT_STEPS,
  limitAt,
  type Settings,
  stepOf,
} from './settings';

interface ControlsProps {
  readonly settings: Settings;
  readonly recordedLimit: bigint;
  /** Examples of the recorded batch; 0: not known. */
  readonly batchSize: bigint;
  /** Undefined: not known yet, or none. */
  readonly smallestLimit: bigint | undefined;
  /** Name scopes of what was live. */
  readonly scopes: readonly string[];
  readonly onChange: (settings: Settings) => void;
}

type Options<Value> = readonly { readonly value: Value; readonly label: string }[];

const CHOICES: Options<Choice> = [
  { value: 'recorded', label: 'as recorded' },
  { value: 'yes', label: 'yes' },
  { value: 'no', label: 'no' },
];
const TYPES: Options<string> = [
  { value: '', label: 'as recorded' },
  ...FLOAT_TYPES.map((type) => ({ value: type, label: type })),
];
const ALLOCATORS: Options<Settings['allocator']> = [
  { value: 'bfc', label: "TensorFlow's (BFC)" },
  { value: 'async', label: 'only the sum (cuda_malloc_async)' },
];

/** What can be different: the pool, the batch, and what scopes ask for. */
export function Controls(props: ControlsProps) {
  const { settings, recordedLimit, batchSize, smallestLimit, scopes, onChange } = props;
  const change = (changed: Partial<Settings>) => onChange({ ...settings, ...changed });
  const limit = settings.limitBytes ?? recordedLimit;
  return (
    <div class="what-if-controls">
      <Slider
        label="Limit"
        shown={formatBytes(limit)}
        most={LIMIT_STEPS}
        value={stepOf(limit, recordedLimit)}
        onChange={(step) => change({ limitBytes: limitAt(step, recordedLimit) })}
      />
      <Slider
        label="Batch"
        shown={batchText(settings.batchPercent, batchSize)}
        disabled={batchSize === 0n}
        least={10}
        most={200}
        step={5}
        value={settings.batchPercent}
        onChange={(batchPercent) => change({ batchPercent })}
      />
      <Select
        label="Grows region by region"
        value={settings.growth}
        options={CHOICES}
        onChange={(growth) => change({ growth })}
      />
      <Select
        label="Gives unused regions back"
        value={settings.garbageCollection}
        options={CHOICES}
        onChange={(garbageCollection) => change({ garbageCollection })}
      />
      <Select
        label="Pool"
        value={settings.allocator}
        options={ALLOCATORS}
        onChange={(allocator) => change({ allocator })}
      />
      <TextField
        label="Leave out"
        placeholder="name scope, ..."
        value={settings.without}
        suggestions={scopes}
        onChange={(without) => change({ without })}
      />
      <Select
        label="Floating point numbers"
        value={settings.dtype}
        options={TYPES}
        onChange={(dtype) => change({ dtype })}
      />
      {settings.dtype !== '' && (
        <TextField
          label="of"
          placeholder="all, or a name scope"
          value={settings.dtypeScope}
          suggestions={scopes}
          onChange={(dtypeScope) => change({ dtypeScope })}
        />
      )}
      {smallestLimit !== undefined && (
        <button type="button" class="button" onClick={() => change({ limitBytes: smallestLimit })}>
          Smallest limit: {formatBytes(smallestLimit)}
        </button>
      )}
      <button type="button" class="button" onClick={() => onChange(AS_RECORDED)}>
        As recorded
      </button>
    </div>
  );
}

/** "16 of 32": examples, as far as the recorded batch is known. */
function batchText(percent: number, batchSize: bigint): string {
  if (batchSize === 0n) return 'not shown by the shapes';
  const examples = Math.round((Number(batchSize) * percent) / 100);
  return percent === 100 ? `${batchSize}` : `${examples} of ${batchSize}`;
}

interface SliderProps {
  readonly label: string;
  readonly shown: string;
  readonly least?: number;
  readonly most: number;
  readonly step?: number;
  readonly value: number;
  readonly disabled?: boolean;
  readonly onChange: (value: number) => void;
}

function Slider(props: SliderProps) {
  const { label, shown, least = 0, most, step = 1, value, disabled = false, onChange } = props;
  const id = useId();
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}: <output>{shown}</output>
      </label>
      <input
        id={id}
        type="range"
        min={least}
        max={most}
        step={step}
        value={value}
        disabled={disabled}
        aria-valuetext={shown}
        onInput={(event) => onChange(event.currentTarget.valueAsNumber)}
      />
    </div>
  );
}
