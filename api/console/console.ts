/**
 * The pages of people who log in: devices with their values as they come, tenants, the own account. What runs in the browser lies in `browser/`:
 * modules as the browser takes them, checked by the compiler through their comments, so that nothing is built and a server whose pages
 * nobody opens holds none of them. They use the REST and WebSocket calls of every client.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { document, pageHeaders } from '../html.ts'
import { isAlreadyHeld } from '../rest/files.ts'
import type { Answer } from '../rest/route.ts'

const FOLDER = join(import.meta.dirname, 'browser')

/** Those that have files of pages in them. */
export const CONSOLE_FOLDERS = ['calculated-fields', 'rule-chains'] as const
const KNOWN = new RegExp(`^(?:(?:${CONSOLE_FOLDERS.join('|')})/)?[a-z][a-z-]*\\.(?:js|css)$`)
/** What every page needs; a page loads the rest itself. */
const FIRST = ['main.js', 'dom.js', 'login.js', 'navigation.js', 'pages.js', 'session.js']

/** As `HttpServer.route` takes them; each leads to the same document, whose script looks at its address. */
export const CONSOLE_PAGES = [
  '/login',
  '/login/resetPasswordRequest',
  '/dashboards',
  '/dashboards/:id',
  '/dashboard/:id',
  '/devices',
  '/devices/:id',
  '/alarms',
  '/ruleChains',
  '/ruleChains/:id',
  '/assets',
  '/assets/:id',
  '/packages',
  '/integrations',
  '/integrations/:id',
  '/failures',
  '/workers',
  '/tenantProfiles',
  '/tenantProfiles/:id',
  '/profiles',
  '/profiles/:id',
  '/calculatedFields',
  '/calculatedFields/:id',
  '/entityViews',
  '/entityViews/:id',
  '/assetProfiles',
  '/assetProfiles/:id',
  '/queues',
  '/queues/:id',
  '/usage',
  '/tenants',
  '/tenants/:id',
  '/customers',
  '/customers/:id',
  '/users',
  '/users/:id',
  '/audit',
  '/settings',
  '/settings/outgoing-mail',
  '/account',
] as const

const HEADERS = pageHeaders({
  'style-src': "'self' 'unsafe-inline'",
  'script-src': "'self'",
  'connect-src': "'self'",
})

const STYLES = ['console.css', 'dashboard.css'].map((name) => `<link rel="stylesheet" href="/console/${name}">`)
const PRELOADS = FIRST.map((name) => `<link rel="modulepreload" href="/console/${name}">`)

const PAGE = document(
  'Millrace',
  `<a class="skip" href="#page">Skip the row of pages</a>
<nav aria-label="Pages"></nav>
<main id="page" tabindex="-1" aria-busy="true"><p>Loading …</p></main>
<noscript><p>This page needs JavaScript.</p></noscript>
<script type="module" src="/console/main.js"></script>`,
  `${STYLES.join('')}${PRELOADS.join('')}`,
)

export function consolePageAnswer(): Answer {
  return { status: 200, contentType: 'text/html;charset=UTF-8', body: PAGE, headers: HEADERS }
}

/**
 * Undefined for a name that no file of the pages has. The browser asks each time, so that nothing is stale after an upgrade, and is sent only
 * what it has not got: `ifNoneMatch` says which content it has.
 */
export async function consoleFileAnswer(name: string, ifNoneMatch: string): Promise<Answer | undefined> {
  if (!KNOWN.test(name)) return undefined
  const body = await readFile(join(FOLDER, name), 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (body === undefined) return undefined
  const etag = createHash('sha256').update(body).digest('base64url')
  const headers = { ...HEADERS, 'Cache-Control': 'no-cache', ETag: `"${etag}"` }
  if (isAlreadyHeld(ifNoneMatch, etag)) return { status: 304, contentType: undefined, body: '', headers }
  const contentType = name.endsWith('.css') ? 'text/css;charset=UTF-8' : 'text/javascript;charset=UTF-8'
  return { status: 200, contentType, body, headers }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
