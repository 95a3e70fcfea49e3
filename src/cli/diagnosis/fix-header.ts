/** What is wrong with the form of a signature header. */
export interface HeaderFault {
  cause: string;
  /** The header without the fault; null where that would be a guess. */
  fixed: string | null;
}

/** The value of a header given whole (`X-Service-Signature: t=…`) or bare. */
export function headerValueOf(text: string): string {
  return text.replace(/^\s*x-service-signature\s*:\s*/i, "").replace(/\r?\n$/, "");
}

/** Why a header is not of the form `t=<1 to 12 digits>,v1=<64 lowercase hex>`: the most helpful reason. */
export function findHeaderFault(header: string): HeaderFault {
  const blank = header.replaceAll(/\s/g, "");
  if (blank !== header && FORM.test(blank)) return { cause: "there are blanks in it", fixed: blank };
  if ((blank.match(/v1=/gi) ?? []).length > 1) {
    return { cause: "it has more than one v1 (is the header sent twice, or added by a proxy?)", fixed: null };
  }
  if ((blank.match(/(?:^|,)t=/gi) ?? []).length > 1) return { cause: "it has more than one t", fixed: null };
  const small = blank.toLowerCase();
  if (FORM.test(small)) return { cause: "its letters must be lowercase", fixed: small };
  const milliseconds = /^t=(\d{13}),(v1=[0-9a-f]{64})$/.exec(small);
  if (milliseconds !== null) {
    const seconds = (milliseconds[1] ?? "").slice(0, -3);
    return { cause: "t is in milliseconds: it must be whole seconds", fixed: `t=${seconds},${milliseconds[2]}` };
  }
  const swapped = /^(v1=[0-9a-f]{64}),(t=\d{1,12})$/.exec(small);
  if (swapped !== null) return { cause: "t must come first", fixed: `${swapped[2]},${swapped[1]}` };
  return { cause: partAtFault(small), fixed: null };
}

const FORM = /^t=[0-9]{1,12},v1=[0-9a-f]{64}$/;

function partAtFault(header: string): string {
  if (/^(?:sha256=)?[0-9a-f]{64}$/.test(header)) return "it is only a digest: t=<unix seconds>, is missing before it";
  if (!/(?:^|,)t=/.test(header)) return "it has no t=<unix seconds>";
  const digest = /(?:^|,)v1=([^,]*)/.exec(header)?.[1];
  if (digest === undefined) return "it has no v1=<hex>";
  if (/^[0-9a-f]*$/.test(digest) && digest.length !== 64) {
    return `its v1 has ${digest.length} hex digits, not 64 (is it cut off?)`;
  }
  return "it is not t=<1 to 12 digits>,v1=<64 hex digits>, and nothing else";
}
