/** The entry point of the page of `oom-forensics fleet-report`: its data lie in the page. */
import { h, render } from 'preact';
import { parseFleet } from './fleet/answers';
import { FleetPage } from './fleet/FleetPage';
import { followTheme } from './store/theme';

const root = document.createElement('div');
document.body.append(root);
followTheme();
try {
  const data = parseFleet(document.getElementById('oom-forensics-fleet')?.textContent ?? '');
  render(h(FleetPage, { data }), root);
} catch (error) {
  root.textContent = error instanceof Error ? error.message : String(error);
}
