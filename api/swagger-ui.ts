/**
 * The page that shows the API description and tries its calls: `swagger-ui-dist`, with nothing loaded from other hosts. Its files are read
 * when they are asked for: a server whose page nobody opens holds none of them.
 */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

export interface PageFile {
  readonly contentType: string
  readonly bytes: Uint8Array
}

const TYPES = {
  'swagger-ui.css': 'text/css;charset=UTF-8',
  'swagger-ui-bundle.js': 'text/javascript;charset=UTF-8',
  'favicon-32x32.png': 'image/png',
} as const

/** `persistAuthorization`: a reload keeps the token. The plugin puts `Bearer` in front of what is pasted without it. */
const START = `window.onload = () => {
  SwaggerUIBundle({
    url: '/v3/api-docs',
    dom_id: '#page',
    deepLinking: true,
    persistAuthorization: true,
    tagsSorter: 'alpha',
    requestInterceptor: (request) => {
      const token = request.headers['X-Authorization']
      if (token && !/^(Bearer|ApiKey) /.test(token)) request.headers['X-Authorization'] = 'Bearer ' + token
      return request
    },
  })
}
`

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Millrace API</title>
<link rel="stylesheet" href="/swagger-ui/swagger-ui.css"><link rel="icon" href="/swagger-ui/favicon-32x32.png"></head>
<body><div id="page"></div>
<script src="/swagger-ui/swagger-ui-bundle.js"></script><script src="/swagger-ui/start.js"></script></body>
</html>
`

export const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
} as const

/** Undefined for a name that the page has no use for. */
export async function swaggerUiFile(name: string): Promise<PageFile | undefined> {
  if (name === 'index.html') return { contentType: 'text/html;charset=UTF-8', bytes: Buffer.from(PAGE) }
  if (name === 'start.js') return { contentType: TYPES['swagger-ui-bundle.js'], bytes: Buffer.from(START) }
  if (!isKnown(name)) return undefined
  return { contentType: TYPES[name], bytes: await readFile(join(FOLDER, name)) }
}

function isKnown(name: string): name is keyof typeof TYPES {
  return Object.hasOwn(TYPES, name)
}
