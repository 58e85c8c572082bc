/**
 * What `/` shows a browser: what runs here, where to log in, and the first three commands. No script, nothing loaded from elsewhere, every
 * text escaped, and a policy that says so to the browser.
 */
import { htmlText } from '../model/html-text.ts'
import { document, pageHeaders } from './html.ts'
import type { Answer } from './rest/route.ts'

export interface PageContent {
  readonly version: string
  /** As a person reaches it, e.g. `http://127.0.0.1:8080`; asked when the page is shown, since the port may be known late. */
  baseUrl(): string
  /** Demo login and device; undefined where none are seeded. */
  readonly demo: { readonly username: string; readonly password: string; readonly accessToken: string } | undefined
}

export interface StartPage {
  answer(): Answer
}

const HEADERS = pageHeaders({})

export function createPage(content: PageContent): StartPage {
  return {
    answer: () => ({ status: 200, contentType: 'text/html;charset=UTF-8', body: html(content), headers: HEADERS }),
  }
}

function html(content: PageContent): string {
  const steps = commands(content)
    .map(({ does, command }) => `<li><p>${htmlText(does)}</p><pre>${htmlText(command)}</pre></li>`)
    .join('\n')
  return document(
    'Millrace',
    `<h1>Millrace</h1>
<p>Version ${htmlText(content.version)}. Takes what devices send, runs it through rule chains, and keeps it: this server
speaks the REST, WebSocket, HTTP device and MQTT interfaces that ThingsBoard clients know.</p>
<p><a href="/login">Log in</a>${demoLogin(content)}: devices and their values as they come.</p>
<h2>The first three commands</h2>
<ol>
${steps}
</ol>
<p>More: <a href="/health">health</a>, <a href="/metrics">metrics</a>, <a href="/swagger-ui">the REST API</a>, and the README of the project.</p>`,
  )
}

function demoLogin({ demo }: PageContent): string {
  return demo === undefined ? '' : ` (${htmlText(demo.username)}, password ${htmlText(demo.password)})`
}

interface Step {
  readonly does: string
  readonly command: string
}

function commands(content: PageContent): readonly Step[] {
  const url = content.baseUrl()
  const token = content.demo?.accessToken ?? '$ACCESS_TOKEN'
  const login = JSON.stringify({
    username: content.demo?.username ?? 'you@example.com',
    password: content.demo?.password ?? 'your password',
  })
  return [
    {
      does: 'Send a temperature as a device would:',
      command: `curl -X POST ${url}/api/v1/${token}/telemetry -H 'Content-Type: application/json' -d '{"temperature":20}'`,
    },
    {
      does: 'Log in; the answer holds the token for everything else:',
      command: `TOKEN=$(curl -s -X POST ${url}/api/auth/login -H 'Content-Type: application/json' -d '${login}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    },
    {
      does: 'Find the device and its id:',
      command: `curl -s -H "X-Authorization: Bearer $TOKEN" '${url}/api/tenant/devices?pageSize=10&page=0'`,
    },
  ]
}
