import { reload } from '../store/session';

/**
 * Follows TensorBoard's reload button and timer.
 *
 * TensorBoard tells its plugins over a MessageChannel that it hands over once
 * the frame has loaded; its guest library is not published, and of its protocol
 * only this one message is needed.
 */
export function listenForReload(): void {
  if (window.parent === window) return;
  const channel = new MessageChannel();
  channel.port1.onmessage = ({ data }: MessageEvent<unknown>) => {
    const message = parse(data);
    if (message?.type === 'experimental.DataReloaded' && !message.isReply) void reload();
    if (message && !message.isReply) {
      channel.port1.postMessage(
        JSON.stringify({
          type: message.type,
          id: message.id,
          payload: null,
          error: null,
          isReply: true,
        }),
      );
    }
  };
  window.parent.postMessage('experimental.bootstrap', '*', [channel.port2]);
}

interface Message {
  readonly type: string;
  readonly id: number;
  readonly isReply: boolean;
}

function parse(data: unknown): Message | undefined {
  try {
    const value: unknown = typeof data === 'string' ? JSON.parse(data) : data;
    return typeof value === 'object' && value !== null && 'type' in value
      ? (value as Message)
      : undefined;
  } catch {
    return undefined;
  }
}
