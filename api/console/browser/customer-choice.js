/** Which customer's users see an entity: one of those that are offered, or any other by its name. */
import { choice, hide } from './dom.js'
import { namedField } from './named-field.js'
import { customersOffered } from './offered.js'
import { call } from './session.js'

/** @typedef {{ id: string } | null | undefined} CustomerId */

const NONE = '13814000-1dd2-11b2-8080-808080808080'
const OTHER = 'other'

/**
 * @param {CustomerId} customerId whose it is now
 * @param {{ assign: (id: string) => Promise<unknown>, unassign: () => Promise<unknown> }} calls each answers the entity
 */
export async function customerChoice(customerId, { assign, unassign }) {
  let owner = customerId?.id === undefined || customerId.id === NONE ? '' : customerId.id
  const { offered, hasMore } = await customersOffered()
  const isBeyond = owner !== '' && !offered.some(([id]) => id === owner)
  // One that is there and not among the first: nobody is to think that nobody sees it.
  const own = isBeyond ? [[owner, (await call('GET', `/api/customer/${owner}`)).title]] : []
  const other = hasMore ? [[OTHER, 'another one, by name …']] : []
  const list = /** @type {[string, string][]} */ ([['', 'nobody'], ...own, ...offered, ...other])
  const { input, row } = choice('Seen by users of', 'customer', list, owner)
  const named = namedField({
    label: 'Its name',
    name: 'customerName',
    one: 'customer',
    path: () => '/api/customers',
    sort: 'title',
  })
  const show = () => hide(named.row, input.value !== OTHER)
  input.addEventListener('change', show)
  show()
  return {
    row,
    more: [named.row, named.options],
    /** Undefined where nothing was changed. */
    async save() {
      const chosen = input.value === OTHER ? (await named.find())['id'].id : input.value
      if (chosen === owner) return undefined
      const answer = await (chosen === '' ? unassign() : assign(chosen))
      owner = chosen
      return /** @type {Record<string, any>} */ (answer)
    },
  }
}
