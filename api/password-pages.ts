/**
 * Where the links of mails lead: a page to choose a password, and one that says that a link is too old. The script of the page sends what was
 * typed to the same calls that a front end uses (`rest-api.md` 1.6).
 */
import { htmlText } from '../model/html-text.ts'
import { document, pageHeaders } from './html.ts'
import type { Answer } from './rest/route.ts'

const FORGOTTEN = '\n<p><a href="/login/resetPasswordRequest">Forgot your password?</a></p>'
const TO_LOGIN = '\n<p><a href="/login">Log in</a></p>'

/** Its path; the page reads the token of its own address. */
export const PASSWORD_SCRIPT = '/login/password.js'

export const PASSWORD_PAGES = {
  '/login/createPassword': page('Choose a password', 'With it and your e-mail address you log in.'),
  '/login/resetPassword': page('Choose a new password', 'You are logged out everywhere, and log in with the new one.'),
  '/activationLinkExpired': text('The link is too old', 'Ask your administrator for another activation link.'),
  '/passwordResetLinkExpired': text('The link is too old', 'Ask for a new password again.', FORGOTTEN),
} as const

const SCRIPT = `const form = document.querySelector('form')
const told = document.querySelector('output')
const parameters = new URLSearchParams(location.search)
const isReset = location.pathname === '/login/resetPassword'
const path = isReset ? '/api/noauth/resetPassword' : '/api/noauth/activate'
const name = isReset ? 'resetToken' : 'activateToken'

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const [password, again] = ['password', 'again'].map((field) => form.elements[field].value)
  if (password !== again) {
    told.textContent = 'The passwords are not the same.'
    return
  }
  const button = form.querySelector('button')
  button.disabled = true
  try {
    const body = JSON.stringify({ [name]: parameters.get(name) ?? '', password })
    const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    form.hidden = answer.ok
    document.querySelector('#login').hidden = !answer.ok
    const { message } = answer.ok ? { message: 'The password is set: you can log in now.' } : await answer.json()
    told.textContent = message
  } catch {
    told.textContent = 'The server does not answer. Try again.'
  } finally {
    button.disabled = false
  }
})
`

const UNKNOWN_LINK = text(
  'The link is not known',
  'It was used already, or a part of it is missing. If you have chosen a password, log in with it.',
  `${TO_LOGIN}${FORGOTTEN}`,
)

const HEADERS = pageHeaders({ 'script-src': "'self'", 'connect-src': "'self'" })

export function passwordPageAnswer(path: keyof typeof PASSWORD_PAGES): Answer {
  return { status: 200, contentType: 'text/html;charset=UTF-8', body: PASSWORD_PAGES[path], headers: HEADERS }
}

/** For who follows a link of a mail that leads nowhere (any more); the status is that of the call. */
export function unknownLinkAnswer(): Answer {
  return { status: 409, contentType: 'text/html;charset=UTF-8', body: UNKNOWN_LINK, headers: HEADERS }
}

export function passwordScriptAnswer(): Answer {
  return { status: 200, contentType: 'text/javascript;charset=UTF-8', body: SCRIPT, headers: HEADERS }
}

function page(title: string, text: string): string {
  return document(
    title,
    `<h1>${htmlText(title)}</h1>
<p>${htmlText(text)}</p>
<form>
<label>Password <input type="password" name="password" autocomplete="new-password" required autofocus></label>
<label>The same again <input type="password" name="again" autocomplete="new-password" required></label>
<button>Set the password</button>
</form>
<p><output></output></p>
<p id="login" hidden><a href="/login">Log in</a></p>
<noscript><p>This page needs JavaScript.</p></noscript>
<script src="${PASSWORD_SCRIPT}"></script>`,
  )
}

function text(title: string, body: string, more = ''): string {
  return document(title, `<h1>${htmlText(title)}</h1>\n<p>${htmlText(body)}</p>${more}`)
}
