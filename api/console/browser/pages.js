/** Which page stands at which address, and for whom. What a page needs is loaded when it is opened. */

/** @typedef {'SYS_ADMIN' | 'TENANT_ADMIN' | 'CUSTOMER_USER'} Authority */
/** @typedef {{ main: HTMLElement, query: URLSearchParams, user: import('./session.js').User, id: string, onEnded: (error: unknown) => void }} Place */
/** `isSecond`: in the list that unfolds. @typedef {{ href: string, text: string, isSecond?: boolean }} Link */
/**
 * @typedef {object} Page
 * @property {RegExp} path its group is the `id`
 * @property {readonly Authority[]} who others are shown their first page
 * @property {Link} [link] in the row of pages
 * @property {(place: Place) => unknown} open
 */

const ALL = /** @type {const} */ (['SYS_ADMIN', 'TENANT_ADMIN', 'CUSTOMER_USER'])
const OF_TENANTS = /** @type {const} */ (['TENANT_ADMIN', 'CUSTOMER_USER'])
const ADMINISTRATOR = /** @type {const} */ (['TENANT_ADMIN'])
const ADMINISTRATORS = /** @type {const} */ (['SYS_ADMIN', 'TENANT_ADMIN'])
const SYSTEM = /** @type {const} */ (['SYS_ADMIN'])

/** @type {readonly Page[]} */
export const PAGES = [
  {
    path: /^\/dashboards$/,
    who: OF_TENANTS,
    link: { href: '/dashboards', text: 'Dashboards' },
    open: async (place) => (await import('./dashboards.js')).dashboardsPage(place),
  },
  {
    // The second as public links of ThingsBoard have it.
    path: /^\/dashboards?\/([\w-]+)$/,
    who: OF_TENANTS,
    open: async (place) => (await import('./dashboard.js')).dashboardPage(place),
  },
  {
    path: /^\/devices$/,
    who: OF_TENANTS,
    link: { href: '/devices', text: 'Devices' },
    open: async ({ main, query, user }) => (await import('./devices.js')).devicesPage(main, query, user),
  },
  {
    path: /^\/devices\/([\w-]+)$/,
    who: OF_TENANTS,
    open: async (place) => (await import('./device.js')).devicePage(place),
  },
  {
    path: /^\/assets$/,
    who: OF_TENANTS,
    link: { href: '/assets', text: 'Assets' },
    open: async (place) => (await import('./assets.js')).assetsPage(place),
  },
  {
    path: /^\/assets\/([\w-]+)$/,
    who: OF_TENANTS,
    open: async (place) => (await import('./asset.js')).assetPage(place),
  },
  {
    path: /^\/alarms$/,
    who: OF_TENANTS,
    link: { href: '/alarms', text: 'Alarms' },
    open: async ({ main, query }) => (await import('./alarms.js')).alarmsPage(main, query),
  },
  {
    path: /^\/ruleChains$/,
    who: ADMINISTRATOR,
    link: { href: '/ruleChains', text: 'Rule chains' },
    open: async ({ main, query }) => (await import('./rule-chains/list.js')).ruleChainsPage(main, query),
  },
  {
    path: /^\/ruleChains\/([\w-]+)$/,
    who: ADMINISTRATOR,
    open: async ({ main, id }) => (await import('./rule-chains/editor.js')).ruleChainPage(main, id),
  },
  {
    path: /^\/tenants$/,
    who: SYSTEM,
    link: { href: '/tenants', text: 'Tenants' },
    open: async (place) => (await import('./tenants.js')).tenantsPage(place),
  },
  {
    path: /^\/tenants\/([\w-]+)$/,
    who: SYSTEM,
    open: async (place) => (await import('./tenant.js')).tenantPage(place),
  },
  {
    path: /^\/profiles$/,
    who: ADMINISTRATOR,
    link: { href: '/profiles', text: 'Device profiles', isSecond: true },
    open: async (place) => (await import('./profiles.js')).profilesPage(place),
  },
  {
    path: /^\/profiles\/([\w-]+)$/,
    who: ADMINISTRATOR,
    open: async (place) => (await import('./profile.js')).profilePage(place),
  },
  {
    path: /^\/assetProfiles$/,
    who: ADMINISTRATOR,
    link: { href: '/assetProfiles', text: 'Asset profiles', isSecond: true },
    open: async (place) => (await import('./asset-profiles.js')).assetProfilesPage(place),
  },
  {
    path: /^\/assetProfiles\/([\w-]+)$/,
    who: ADMINISTRATOR,
    open: async (place) => (await import('./asset-profile.js')).assetProfilePage(place),
  },
  {
    path: /^\/packages$/,
    who: ADMINISTRATOR,
    link: { href: '/packages', text: 'OTA packages', isSecond: true },
    open: async (place) => (await import('./packages.js')).packagesPage(place),
  },
  {
    path: /^\/calculatedFields$/,
    who: ADMINISTRATOR,
    link: { href: '/calculatedFields', text: 'Calculated fields', isSecond: true },
    open: async (place) => (await import('./calculated-fields.js')).calculatedFieldsPage(place),
  },
  {
    // `new` too: with what it is to be in the address.
    path: /^\/calculatedFields\/([\w-]+)$/,
    who: ADMINISTRATOR,
    open: async (place) => (await import('./calculated-field.js')).calculatedFieldPage(place),
  },
  {
    path: /^\/entityViews$/,
    who: OF_TENANTS,
    link: { href: '/entityViews', text: 'Entity views', isSecond: true },
    open: async (place) => (await import('./entity-views.js')).entityViewsPage(place),
  },
  {
    path: /^\/entityViews\/([\w-]+)$/,
    who: OF_TENANTS,
    open: async (place) => (await import('./entity-view.js')).entityViewPage(place),
  },
  {
    path: /^\/integrations$/,
    who: ADMINISTRATOR,
    link: { href: '/integrations', text: 'Integrations', isSecond: true },
    open: async (place) => (await import('./integrations.js')).integrationsPage(place),
  },
  {
    path: /^\/integrations\/([\w-]+)$/,
    who: ADMINISTRATOR,
    open: async (place) => (await import('./integration.js')).integrationPage(place),
  },
  {
    path: /^\/queues$/,
    who: ADMINISTRATORS,
    link: { href: '/queues', text: 'Queues', isSecond: true },
    open: async (place) => (await import('./queues.js')).queuesPage(place),
  },
  {
    path: /^\/queues\/([\w-]+)$/,
    who: ADMINISTRATORS,
    open: async (place) => (await import('./queue.js')).queuePage(place),
  },
  {
    path: /^\/failures$/,
    who: ADMINISTRATORS,
    link: { href: '/failures', text: 'Failed messages', isSecond: true },
    open: async (place) => (await import('./failures.js')).failuresPage(place),
  },
  {
    path: /^\/usage$/,
    who: ADMINISTRATOR,
    link: { href: '/usage', text: 'Usage and limits', isSecond: true },
    open: async (place) => (await import('./usage.js')).usagePage(place),
  },
  {
    path: /^\/tenantProfiles$/,
    who: SYSTEM,
    link: { href: '/tenantProfiles', text: 'Tenant profiles' },
    open: async (place) => (await import('./tenant-profiles.js')).tenantProfilesPage(place),
  },
  {
    path: /^\/tenantProfiles\/([\w-]+)$/,
    who: SYSTEM,
    open: async (place) => (await import('./tenant-profile.js')).tenantProfilePage(place),
  },
  {
    path: /^\/workers$/,
    who: SYSTEM,
    link: { href: '/workers', text: 'Worker pools' },
    open: async (place) => (await import('./workers.js')).workersPage(place),
  },
  {
    path: /^\/customers$/,
    who: ADMINISTRATOR,
    link: { href: '/customers', text: 'Customers', isSecond: true },
    open: async (place) => (await import('./customers.js')).customersPage(place),
  },
  {
    path: /^\/customers\/([\w-]+)$/,
    who: ADMINISTRATOR,
    open: async (place) => (await import('./customer.js')).customerPage(place),
  },
  {
    path: /^\/users$/,
    who: ADMINISTRATOR,
    link: { href: '/users', text: 'Users', isSecond: true },
    open: async (place) => (await import('./users.js')).usersPage(place),
  },
  {
    path: /^\/users\/([\w-]+)$/,
    who: ADMINISTRATORS,
    open: async (place) => (await import('./user.js')).userPage(place),
  },
  {
    path: /^\/audit$/,
    who: ADMINISTRATORS,
    link: { href: '/audit', text: 'Audit log', isSecond: true },
    open: async (place) => (await import('./audit.js')).auditPage(place),
  },
  {
    // The second is where a mail provider sends the administrator back to.
    path: /^\/settings(?:\/outgoing-mail)?$/,
    who: SYSTEM,
    link: { href: '/settings', text: 'Settings' },
    open: async (place) => (await import('./settings.js')).settingsPage(place),
  },
  {
    path: /^\/account$/,
    who: ALL,
    link: { href: '/account', text: 'Account' },
    open: async ({ main, user }) => (await import('./account.js')).accountPage(main, user),
  },
]

/** The page at an address, or the first that is for `authority`. @param {string} path @param {Authority} authority @returns {Page} */
export function pageAt(path, authority) {
  const own = PAGES.filter(({ who }) => who.includes(authority))
  const page = own.find((each) => each.path.test(path)) ?? own[0]
  if (page === undefined) throw new Error(`There is no page for ${authority}.`)
  return page
}

/** @param {string} path */
export function isPage(path) {
  return PAGES.some((page) => page.path.test(path))
}
