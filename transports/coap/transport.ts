/** CoAP as one of the device protocols. */
import { defineTransport } from '../define-transport.ts'
import { startCoapTransport } from './server.ts'
import { COAP_SETTINGS } from './settings.ts'

export const coap = defineTransport({
  name: 'coap',
  label: 'CoAP',
  settings: COAP_SETTINGS,
  figures: {
    observers: 'observers',
    blockTransfers: 'block_transfers',
    received: 'received_uploads_total',
    acknowledged: 'acknowledged_uploads_total',
    refused: 'refused_uploads_total',
    undecodable: 'undecodable_requests_total',
    unauthenticated: 'unauthenticated_requests_total',
    malformed: 'malformed_datagrams_total',
    duplicates: 'duplicate_requests_total',
    notified: 'notifications_total',
    retransmitted: 'retransmissions_total',
    lost: 'lost_messages_total',
  },
  listener: ({ coapEnabled, coapBindAddress, coapBindPort }) =>
    coapEnabled
      ? {
          scheme: 'coap',
          over: 'udp',
          address: coapBindAddress,
          addressName: COAP_SETTINGS.coapBindAddress.name,
          port: coapBindPort,
          portName: COAP_SETTINGS.coapBindPort.name,
        }
      : undefined,
  open: ({ gateway, settings, payload, clock, random, log }) =>
    startCoapTransport({
      gateway,
      bindAddress: settings.coapBindAddress,
      port: settings.coapBindPort,
      limits: {
        maxPayloadBytes: settings.coapMaxPayloadBytes,
        maxExchanges: settings.coapMaxExchanges,
        maxObservers: settings.coapMaxObservers,
        maxObserversPerTenant: settings.coapMaxObserversPerTenant,
      },
      payload,
      clock,
      random,
      log,
    }),
})
