/** Who may read `/metrics`, and how much of it: ids of tenants and rule chains are for the operator. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Auth } from '../auth/auth.ts'
import { ApiErrors } from '../errors.ts'
import type { MetricsAudience } from '../metrics.ts'
import type { PublicCall } from './route.ts'

export interface MetricsAccess {
  /** Who reads figures without ids and without a token: whoever is on this machine, or everybody. */
  readonly withoutToken: 'loopback' | 'anyone'
  /** Shows everything to whoever sends it as `Authorization: Bearer …`, beside a system administrator's login; undefined where there is none. */
  readonly token: string | undefined
}

type MetricsCall = Pick<PublicCall, 'credentials' | 'isLocal'>

export class MetricsGuard {
  private readonly auth: Pick<Auth, 'authenticate'>
  private readonly access: MetricsAccess

  constructor(auth: Pick<Auth, 'authenticate'>, access: MetricsAccess) {
    this.auth = auth
    this.access = access
  }

  /** Throws AUTHENTICATION_FAILED, PERMISSION_DENIED, and what `Auth.authenticate` throws. */
  async audienceOf({ credentials, isLocal }: MetricsCall): Promise<MetricsAudience> {
    const { token, withoutToken } = this.access
    if (credentials === '') {
      if (withoutToken === 'anyone' || isLocal) return 'public'
      throw ApiErrors.AUTHENTICATION_FAILED()
    }
    if (token !== undefined && isSame(credentials, `Bearer ${token}`)) return 'operator'
    const { authority } = await this.auth.authenticate(credentials)
    if (authority !== 'SYS_ADMIN') throw ApiErrors.PERMISSION_DENIED()
    return 'operator'
  }
}

/** Takes as long for a text that is nearly right as for any other. */
function isSame(text: string, expected: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest()
  return timingSafeEqual(digest(text), digest(expected))
}
