/** Throw-away certificates by the openssl command: a CA, a server and a client, made once a run. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Certificates {
  readonly ca: string;
  /** For `router.example` and 127.0.0.1. */
  readonly server: KeyPair;
  /** For `other.example` alone. */
  readonly misnamed: KeyPair;
  readonly client: KeyPair;
}

export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'graticule-tls-'));
  const openssl = (...argv: string[]) => execFileSync('openssl', argv, { cwd: folder, stdio: 'pipe' });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  try {
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      'ca.key',
      '-out',
      'ca.crt',
      '-days',
      '2',
      '-subj',
      '/CN=test CA',
    );
    const issue = (name: string, subjectAltName: string): KeyPair => {
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${subjectAltName}\n`);
      openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
      openssl(
        ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'],
        ...['-days', '2', '-extfile', `${name}.ext`, '-out', `${name}.crt`],
      );
      return { certificate: read(`${name}.crt`), key: read(`${name}.key`) };
    };
    return {
      ca: read('ca.crt'),
      server: issue('server', 'DNS:router.example,IP:127.0.0.1'),
      misnamed: issue('misnamed', 'DNS:other.example'),
      client: issue('client', 'DNS:collector.example'),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
