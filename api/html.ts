/** What the pages for browsers share: their frame, their looks, and the policy that says to the browser what they may do. */
import { htmlText } from '../model/html-text.ts'

const STYLE =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:3rem auto;padding:0 1rem;color:#1c2733}' +
  'pre{background:#f1f4f7;padding:.8rem 1rem;border-radius:4px;white-space:pre-wrap;overflow-wrap:anywhere}' +
  'h1{margin-bottom:0}label{display:block;margin:1rem 0}input{display:block;font:inherit;padding:.4rem;width:20rem;max-width:100%}' +
  'button{font:inherit;padding:.4rem 1.2rem}' +
  '@media (prefers-color-scheme:dark){body{background:#10161c;color:#dbe4ec}pre{background:#1b242d}a{color:#7fb6e6}}'

/** `more`: what a page needs beside its own style. Nothing is loaded from elsewhere, and no form is sent by the browser. */
export function pageHeaders(more: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const policy = { 'default-src': "'none'", 'style-src': "'unsafe-inline'", ...more }
  const rest = { 'base-uri': "'none'", 'form-action': "'none'", 'frame-ancestors': "'none'" }
  return {
    'Content-Security-Policy': Object.entries({ ...policy, ...rest })
      .map((entry) => entry.join(' '))
      .join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  }
}

/** `body` and `head` are HTML. */
export function document(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${htmlText(title)}</title><style>${STYLE}</style>${head}</head>
<body>
${body}
</body>
</html>
`
}
