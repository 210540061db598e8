import { DRIVER_MEMORY } from '../../data/query';
import type { Target } from '../../store/target';
import { AnswerCard } from '../../ui/AnswerCard';
import { Empty } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { useWindowed } from '../../ui/useWindowed';
import { Device } from './Device';

/** What the device's driver saw: TensorFlow's pools beside everything else on the device. */
export function DriverMemory({ target }: { readonly target: Target }) {
  const { body, asked } = useWindowed(DRIVER_MEMORY, target);
  const devices = (asked.data?.series ?? []).filter(
    ({ columns, rows }) => columns.length + rows.length > 0,
  );
  return (
    <div ref={body}>
      {devices.map((device) => (
        <Device
          key={`${device.host}/${device.device}`}
          device={device}
          target={target}
          question={asked.question}
        />
      ))}
      {devices.length > 0 ? (
        <QualityNotes quality={asked.data?.quality ?? []} />
      ) : (
        <AnswerCard
          title="Driver memory"
          name="driver-memory"
          asked={asked}
          waiting="Reading driver memory…"
        >
          {() => (
            <Empty title="No device memory was recorded">
              <p>
                {target.host.cuptiReason ||
                  'Driver memory is recorded on NVIDIA GPUs only, through CUPTI or the driver.'}
              </p>
            </Empty>
          )}
        </AnswerCard>
      )}
    </div>
  );
}
