/** A new user, who comes in by a link that is shown or mailed. */
import { copyable, field, form, make } from './dom.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./pages.js').Authority} Authority */

export const AUTHORITIES = /** @type {Readonly<Record<Authority, string>>} */ ({
  SYS_ADMIN: 'system administrator',
  TENANT_ADMIN: 'administrator',
  CUSTOMER_USER: 'user of a customer',
})

/**
 * @param {Json} whose members of the user: `authority`, and `tenantId` or `customerId` where there is one
 * @param {() => Promise<unknown>} onAdded
 */
export function userAddition(whose, onAdded) {
  const email = field('E-mail', { type: 'email', name: 'email', required: true, autocomplete: 'off' })
  const first = field('First name', { name: 'firstName', autocomplete: 'off' })
  const last = field('Last name', { name: 'lastName', autocomplete: 'off' })
  const way = make(
    'select',
    { name: 'way' },
    make('option', { value: 'false' }, 'Show it here'),
    make('option', { value: 'true' }, 'Send it by mail'),
  )
  const link = make('div', { role: 'status' })
  const rows = [email.row, first.row, last.row, make('label', {}, 'The link by which the user comes in', way)]
  const adding = form('Add the user', rows, async () => {
    link.replaceChildren()
    const draft = {
      ...whose,
      email: email.input.value.trim(),
      firstName: first.input.value.trim(),
      lastName: last.input.value.trim(),
    }
    const user = await call('POST', `/api/user?sendActivationMail=${way.value}`, draft)
    if (way.value === 'false') link.replaceChildren(...(await activation(user.id.id)))
    await onAdded()
    for (const { input } of [email, first, last]) input.value = ''
    return way.value === 'true' ? `A mail is on its way to ${draft.email}.` : `${draft.email} is there.`
  })
  return make('details', {}, make('summary', {}, 'Add a user'), adding, link)
}

/** The link of who was not here yet. @param {string} userId */
export async function activation(userId) {
  const { value, ttlMs } = await call('GET', `/api/user/${userId}/activationLinkInfo`)
  const hours = Math.max(1, Math.round(ttlMs / 3_600_000))
  return [
    make('p', {}, `Send this link to the user, who chooses a password there. It is good for ${hours} hours:`),
    copyable(value, 'the link'),
  ]
}

/** @param {Json} user */
export function nameOf({ firstName, lastName }) {
  return [firstName, lastName].filter(Boolean).join(' ')
}
