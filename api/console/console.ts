/**
 * The pages of people who log in: devices with their values as they come, tenants, the own account. What runs in the browser lies in `browser/`:
 * modules as the browser takes them, checked by the compiler through their comments, so that nothing is built and a server whose pages
 * nobody opens holds none of them. They use the REST and WebSocket calls of every client.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { document, pageHeaders } from '../html.ts'
import type { Answer } from '../rest/route.ts'

const FOLDER = join(import.meta.dirname, 'browser')

const FILES = [
  'account.js',
  'alarms.js',
  'console.css',
  'device.js',
  'devices.js',
  'dom.js',
  'live.js',
  'login.js',
  'main.js',
  'paged.js',
  'plot.js',
  'points.js',
  'session.js',
  'tenants.js',
] as const

/** As `HttpServer.route` takes them; each leads to the same document, whose script looks at its address. */
export const CONSOLE_PAGES = [
  '/login',
  '/login/resetPasswordRequest',
  '/devices',
  '/devices/:id',
  '/alarms',
  '/tenants',
  '/account',
] as const

const HEADERS = pageHeaders({
  'style-src': "'self' 'unsafe-inline'",
  'script-src': "'self'",
  'connect-src': "'self'",
})

const PRELOADS = FILES.filter((name) => name.endsWith('.js')).map(
  (name) => `<link rel="modulepreload" href="/console/${name}">`,
)

const PAGE = document(
  'Millrace',
  `<nav aria-label="Pages"></nav>
<main><p>Loading …</p></main>
<noscript><p>This page needs JavaScript.</p></noscript>
<script type="module" src="/console/main.js"></script>`,
  `<link rel="stylesheet" href="/console/console.css">${PRELOADS.join('')}`,
)

export function consolePageAnswer(): Answer {
  return { status: 200, contentType: 'text/html;charset=UTF-8', body: PAGE, headers: HEADERS }
}

/** Undefined for a name that the pages have no use for. */
export async function consoleFileAnswer(name: string): Promise<Answer | undefined> {
  if (!isKnown(name)) return undefined
  const contentType = name.endsWith('.css') ? 'text/css;charset=UTF-8' : 'text/javascript;charset=UTF-8'
  return { status: 200, contentType, body: await readFile(join(FOLDER, name), 'utf8'), headers: HEADERS }
}

function isKnown(name: string): name is (typeof FILES)[number] {
  return FILES.some((file) => file === name)
}
