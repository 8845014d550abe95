// SPDX-License-Identifier: MPL-2.0
// First, so that all other style sheets can override them.
import './design/tokens.css';
import './design/base.css';
import './design/stack.module.css';
import './design/panel.module.css';

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { openApi } from './api/open-api.ts';
import { App } from './app.tsx';
import { followDaemon } from './store/follow-daemon.ts';
import { followShell } from './store/follow-shell.ts';
import { applyPreferences } from './store/preferences.ts';

const api = openApi();
applyPreferences();
void followDaemon(api);
if (api.shell !== undefined) followShell(api.shell);
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App api={api} />
    </StrictMode>,
  );
}
