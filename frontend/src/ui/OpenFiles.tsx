import { hostsOfOneRun, openError, openedFiles, openFiles } from '../store/openedFiles';
import { plainFiles } from './droppedFiles';

/** Opens traces of the reader's own machine in the page. */
export function OpenFiles() {
  const several = openedFiles.value.filter(({ path }) => !path.includes('/')).length > 1;
  return (
    <div class="open-files">
      <label class="button">
        Open files…
        <input
          type="file"
          class="visually-hidden"
          multiple
          accept=".pb,.gz"
          onChange={(event) => {
            const input = event.currentTarget;
            void openFiles(plainFiles(input.files ?? [])).then(() => {
              // The same file can be chosen once more.
              input.value = '';
            });
          }}
        />
      </label>
      {several && (
        <label class="field">
          <input
            type="checkbox"
            checked={hostsOfOneRun.value}
            onChange={(event) => {
              hostsOfOneRun.value = event.currentTarget.checked;
              void openFiles(openedFiles.value);
            }}
          />
          they are the hosts of one run
        </label>
      )}
      {openError.value && (
        <p class="notice failed" role="alert">
          {openError.value.message}
        </p>
      )}
    </div>
  );
}
