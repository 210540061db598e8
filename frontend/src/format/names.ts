/** Names of TensorFlow things as a person says them. */
import { Role } from '../generated/datasets_pb';

const ROLE_NAMES: Record<Role, string> = {
  [Role.UNKNOWN]: 'unknown',
  [Role.VARIABLE]: 'variable',
  [Role.OPTIMIZER]: 'optimizer slot',
  [Role.GRADIENT]: 'gradient',
  [Role.ACTIVATION]: 'activation',
  [Role.INPUT]: 'input',
  [Role.WORKSPACE]: 'workspace',
};

/** "optimizer slot"; a role this frontend does not know yet counts as unknown. */
export function roleName(role: Role): string {
  return ROLE_NAMES[role] ?? ROLE_NAMES[Role.UNKNOWN];
}

/** "float32 [8, 16]", "float32 scalar", "float32" where the shape was not recorded. */
export function tensorName(tensor: {
  readonly dtype: string;
  readonly shape: readonly bigint[];
  readonly hasShape: boolean;
}): string {
  const shape = tensor.hasShape ? shapeName(tensor.shape) : '';
  return [tensor.dtype, shape].filter((part) => part !== '').join(' ');
}

/** "[8, 16]" or "scalar". */
export function shapeName(shape: readonly bigint[]): string {
  return shape.length === 0 ? 'scalar' : `[${shape.join(', ')}]`;
}

/** The op's name, or what to call an allocation whose op was not recorded. */
export function opName(name: string): string {
  return name === '' ? '(no op recorded)' : name;
}
