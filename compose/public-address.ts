/** With demo logins in place a public address is refused: everybody knows their passwords. */
import { defineErrors, isMillraceError } from '../model/errors.ts'
import type { Config } from '../config/settings.ts'
import { TRANSPORTS } from '../transports/catalogue.ts'
import type { UserService } from '../services/users/user-service.ts'
import { DEMO_LOGINS } from '../services/seed.ts'

export const AddressErrors = defineErrors('address', {
  DEMO_LOGINS_IN_PUBLIC: {
    kind: 'terminal',
    status: 500,
    text:
      '{setting}={address} can be reached from other machines while the demo login {login} still has its known password. ' +
      'Either keep 127.0.0.1, or change the passwords of the demo logins first, or start with DEMO=false and a new DATA_DIR.',
  },
})

export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(\.\d{1,3}){3}$/.test(address)
}

/** Throws DEMO_LOGINS_IN_PUBLIC. */
export async function refuseDemoLoginsInPublic(config: Config, users: UserService): Promise<void> {
  const addresses: [string, string][] = [['HTTP_BIND_ADDRESS', config.httpBindAddress]]
  for (const at of TRANSPORTS.flatMap(({ listeners }) => listeners(config)))
    if (at !== 'http') addresses.push([at.addressName, at.address])
  const open = addresses.find(([, address]) => !isLoopback(address))
  if (open === undefined) return
  for (const { email, password } of Object.values(DEMO_LOGINS)) {
    if (!(await canLogIn(users, email, password))) continue
    throw AddressErrors.DEMO_LOGINS_IN_PUBLIC({ setting: open[0], address: open[1], login: email })
  }
}

async function canLogIn(users: UserService, email: string, password: string): Promise<boolean> {
  try {
    return (await users.authenticate(email, password)) !== undefined
  } catch (error) {
    // Whoever gives the right one may choose another.
    if (isMillraceError(error) && error.code === 'users.PASSWORD_EXPIRED') return true
    // Not active.
    if (isMillraceError(error) && error.kind === 'denied') return false
    throw error
  }
}
