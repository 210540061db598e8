import { DRIVER_MEMORY } from '../../data/query';
import type { Target } from '../../store/target';
import { Card } from '../../ui/Card';
import { Empty, Failed, Waiting } from '../../ui/Notices';
import { QualityNotes } from '../../ui/QualityNotes';
import { useWindowed } from '../../ui/useWindowed';
import { Device } from './Device';

/** What the device's driver saw: TensorFlow's pools beside everything else on the device. */
export function DriverMemory({ target }: { readonly target: Target }) {
  const { body, asked } = useWindowed(DRIVER_MEMORY, target);
  const devices = (asked.data?.series ?? []).filter(
    ({ columns: own, rows }) => own.length + rows.length > 0,
  );
  return (
    <div ref={body}>
      {devices.length === 0 && (
        <Card
          title="Driver memory"
          busy={asked.loading}
          exports={{ name: 'driver-memory', question: asked.question }}
        >
          {asked.error && <Failed error={asked.error} />}
          {!asked.data && asked.loading && (
            <Waiting run={target.run} what="Reading driver memory…" />
          )}
          {asked.data && (
            <Empty title="No device memory was recorded">
              <p>
                {target.host.cuptiReason ||
                  'Driver memory is recorded on NVIDIA GPUs only, through CUPTI or the driver.'}
              </p>
            </Empty>
          )}
        </Card>
      )}
      {devices.map((device) => (
        <Device
          key={`${device.host}/${device.device}`}
          device={device}
          target={target}
          question={asked.question}
        />
      ))}
      {asked.data && <QualityNotes quality={asked.data.quality} />}
    </div>
  );
}
