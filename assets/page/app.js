'use strict';
// The ceremony page. It shows what it is given, recomputes the challenge from
// what it shows, asks the browser for a passkey and hands the answer on. It decides
// nothing, stores nothing, and asks nobody but the vault on its own port.
(() => {
  const $ = id => document.getElementById(id);
  // The token stands in the fragment: no request and no log carries it. It works once.
  const token = location.hash.slice(1);
  history.replaceState(null, '', '/');

  let session = '';
  let over = false;
  let ends = 0;
  const stop = new AbortController();

  // ---- words ---------------------------------------------------------------

  const kinds = {
    'sow.countersign': 'Countersign an agreement',
    'sow.amend': 'Countersign an amendment',
    'sow.terminate': 'End an engagement',
    'sow.dispute': 'Open a dispute',
    'sow.preauthorise': 'Let one offer be countersigned without asking',
    'mint.delegate': 'Let a bot mint keys',
    'mint.export': 'Let the mint material of a domain leave the vault',
    'moment.resolution': 'Answer a decision',
    'action.sign': 'Sign one action',
    'request.decline': 'Decline a request',
    'client.pair': 'Pair a program',
    'grant.make': 'Let an agent sign without asking',
    'socket.add': 'Let another user of this computer ask',
    'instance.readmit': 'Let a suspended envelope be used again',
    'recovery.show': 'Show the recovery words',
    'protection.change': 'Change what opens the vault',
    'passkey.try': 'Try a new passkey',
    'passkey.add': 'Add a passkey',
    'passkey.remove': 'Remove a passkey',
    'policy.loosen': 'Ask for less from now on',
    'card.export': 'Export the owner card',
  };
  const members = {
    'kind': 'Act', 'document.id': 'Document', 'document.version': 'Version', 'role': 'Your part',
    'digest.value': 'Digest', 'digest.alg': 'Digest made by', 'origin': 'This page', 'rp_id': 'Passkey of',
    'issued_at': 'Asked', 'expires_at': 'Ends', 'request_id': 'Request', 'nonce': 'Drawn for this',
    'authorization_binding.profile': 'Binding', 'authorization_binding.envelope_digest': 'Question',
    'authorization_binding.resolution': 'Answer', 'authorization_binding.option_idx': 'Option, from 0',
    'authorization_binding.action_digest': 'Action',
  };
  const cancelled = ['The passkey was not used.', 'Nothing was decided; the sheet is as you left it.'];
  const reasons = {
    cancelled,
    page_closed: ['The page was loaded again or lost its vault.', 'Nothing was decided. Start again from the sheet.'],
    contested: ['Contested: this page was opened twice.', 'Nothing was decided. If you did not open it twice, somebody else has the link. Start again from the sheet.'],
    not_opened: ['The time is over.', 'Nothing was decided. Start again from the sheet.'],
    timed_out: ['The time is over.', 'Nothing was decided. Start again from the sheet.'],
    not_same: ['The digits were not the same.', 'Nothing was decided. Start again from the sheet.'],
    name_refused: ['This browser does not take the name of this page.', 'Nothing was decided. The vault tries another name.'],
    no_means: ['This browser has no passkey that works here.', 'Nothing was decided. The vault’s window says what works.'],
    already_there: ['This passkey is enrolled already.', 'Nothing was changed. Use another one.'],
    page_differs: ['Not accepted: the page was changed.', 'Nothing was signed. Start again from the sheet.'],
    line_ended: ['The vault ended this page.', 'Nothing was decided here. The vault’s window says more.'],
    used: ['This link worked once and is used.', 'Nothing was decided here. Start again from the sheet.'],
  };

  // ---- drawing: text nodes only -----------------------------------------------

  const make = (name, className, text) => {
    const el = document.createElement(name);
    if (className) el.className = className;
    if (text !== undefined) el.textContent = text;
    return el;
  };
  const show = (id, text) => {
    if (text !== undefined) $(id).textContent = text;
    $(id).hidden = false;
  };

  // figure shows six digits in two groups, as the window does.
  const figure = text => {
    $('digits').replaceChildren(make('span', '', text.slice(0, 3)), make('span', '', text.slice(3)));
    show('digits');
  };

  // steps draws the status: texts, the index of the present one, and what stopped it.
  const steps = (texts, now, no) => {
    const list = texts.slice(0, no ? now : texts.length).map((text, i) => {
      const li = make('li', i < now ? 'done' : i === now ? 'now' : '');
      li.append(make('span', 'dot'), make('span', '', text));
      return li;
    });
    if (no) {
      const li = make('li', 'no');
      const words = make('span', '', no[0]);
      words.append(make('small', '', no[1]));
      li.append(make('span', 'dot'), words);
      list.push(li);
    }
    $('steps').replaceChildren(...list);
  };
  let course = ['Page opened', 'Waiting for the vault'];
  let at = 0;
  const step = n => steps(course, at = n);

  const hidden = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc]|(?! )\p{Zs}/u;
  const alike = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu']
    .map(name => [name, new RegExp(`\\p{Script=${name}}`, 'u')]);
  const alphabet = c => (alike.find(([, of]) => of.test(c)) || [''])[0];
  const code = c => 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

  // odd finds the letters of a word that are of another alphabet than most of it.
  const odd = word => {
    const count = new Map();
    for (const c of word) if (alphabet(c)) count.set(alphabet(c), (count.get(alphabet(c)) || 0) + 1);
    if (count.size < 2) return null;
    const most = [...count].sort((a, b) => b[1] - a[1])[0][0];
    return { most, is: c => alphabet(c) !== '' && alphabet(c) !== most };
  };

  // plain writes text so that nothing in it is invisible, turns the direction or is
  // pushed out of sight, and counts what it marked.
  const found = { hidden: 0, words: [] };
  const plain = (into, text, count = found) => {
    let run = '';
    const flush = () => { if (run) into.append(run); run = ''; };
    const mark = words => { flush(); into.append(make('bdi', 'mark', words)); };
    for (const piece of text.match(/ {9,}|[\p{L}\p{M}\p{N}]+|[^]/gu) || []) {
      if (piece.length > 8 && piece.trim() === '') {
        mark(piece.length + ' spaces');
        continue;
      }
      const strange = odd(piece);
      let stacked = 0;
      for (const c of piece) {
        stacked = /\p{M}/u.test(c) ? stacked + 1 : 0;
        if (hidden.test(c) || stacked > 4) {
          count.hidden++;
          mark('<' + code(c) + '>');
        } else if (strange && strange.is(c)) {
          flush();
          into.append(make('span', 'mixed', c));
        } else run += c;
      }
      if (strange && count.words.length < 8) {
        const c = [...piece].find(strange.is);
        count.words.push(`“${[...piece].filter(x => !hidden.test(x)).join('')}” mixes ${strange.most} with a ${alphabet(c)} ${c}, ${code(c)}.`);
      }
    }
    flush();
  };

  const lines = texts => {
    for (const text of texts) {
      const words = make('span');
      words.dir = 'auto';
      plain(words, text);
      const li = make('li');
      li.append(words);
      $('says').append(li);
    }
  };
  const fact = (name, value, mono) => {
    const dt = make('dt'), dd = make('dd', mono ? 'mono' : '');
    plain(dt, name);
    plain(dd, value);
    $('facts-list').append(dt, dd);
  };
  const tell = () => {
    const said = [];
    if (found.hidden) said.push(found.hidden === 1 ? '1 hidden character is shown as a mark.' : `${found.hidden} hidden characters are shown as marks.`);
    said.push(...found.words);
    $('marks').classList.toggle('quiet', said.length === 0);
    show('marks', said.join(' ') || 'No hidden or direction-changing characters');
  };

  const months = 'January February March April May June July August September October November December'.split(' ');
  const instant = text => {
    const m = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)Z$/.exec(text);
    return m ? `${+m[3]} ${months[m[2] - 1]} ${m[1]}, ${m[4]} UTC` : text;
  };
  const clock = () => {
    const left = (ends - Date.now()) / 1000;
    $('bar').hidden = over || !ends;
    $('left').textContent = over || !ends ? '' : left > 90 ? 'Two minutes are left.' : left > 60 ? 'More than a minute is left.' :
      left > 30 ? 'Less than a minute is left.' : left > 0 ? 'Less than half a minute is left.' : 'The time is over.';
  };
  setInterval(clock, 1000);

  // ---- the vault on this port -------------------------------------------------

  const post = async (path, body) => {
    const r = await fetch(path, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
      credentials: 'omit', cache: 'no-store', redirect: 'error', referrerPolicy: 'no-referrer',
    });
    const json = (r.headers.get('Content-Type') || '').startsWith('application/json');
    return { status: r.status, body: json ? await r.json() : null };
  };

  // end shows how it ended; only the first end counts.
  const end = reason => {
    if (over) return;
    over = true;
    stop.abort();
    clock();
    steps(course, at, reasons[reason] || reasons.line_ended);
    settle();
  };
  const settle = () => {
    for (const id of ['go', 'back', 'worth']) $(id).hidden = true;
    document.documentElement.dataset.state = 'over';
    requestAnimationFrame(() => $('steps').scrollIntoView({ block: 'nearest' }));
  };
  const ask = async (path, body) => {
    const r = await post(path, { session, ...body });
    if (r.status === 410) end(r.body.outcome);
    else if (r.status >= 400) end('used');
    return r.status < 300 && !over ? r.body : null;
  };
  const leave = async reason => {
    if (over) return;
    const told = ask('/leave', { reason });
    end(reason);
    await told.catch(() => {});
  };

  // ---- bytes ----------------------------------------------------------------

  const text64 = bytes => {
    let s = '';
    for (const b of new Uint8Array(bytes)) s += String.fromCharCode(b);
    return btoa(s).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  };
  const bytes64 = text => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0));
  const utf8 = text => new TextEncoder().encode(text);
  const sha256 = async bytes => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const allowed = list => list.map(c => ({ type: 'public-key', id: bytes64(c.id), ...(c.transports ? { transports: c.transports } : {}) }));

  // cose cuts the public key out of authenticator data: after the id, in one of
  // the three shapes that the vault knows.
  const cose = data => {
    const k = data.subarray(55 + (data[53] << 8 | data[54]));
    const length = k[0] === 0xa5 ? 77 : k[2] === 1 ? 42 : 16 + (k[9] << 8 | k[10]);
    if (k.length < length) throw new TypeError('no key');
    return k.subarray(0, length);
  };
  const digits = async key => {
    const prefix = utf8('vault-passkey-digits-v1\n');
    const all = new Uint8Array(prefix.length + key.length);
    all.set(prefix);
    all.set(key, prefix.length);
    const sum = new DataView((await sha256(all)).buffer);
    return String(sum.getBigUint64(0) % 1000000n).padStart(6, '0');
  };

  // ---- confirm --------------------------------------------------------------

  const flat = (value, name, out) => {
    if (value !== null && typeof value === 'object') {
      for (const key of Object.keys(value)) flat(value[key], name ? name + '.' + key : key, out);
    } else out.set(name, String(value));
    return out;
  };

  const confirm = async task => {
    course = ['Page opened', 'Waiting for your passkey', 'The key process checks it'];
    const context = JSON.parse(task.context);
    const challenge = await sha256(utf8(task.context));
    // What is shown is the whole of what is hashed, and what is hashed is what is asked.
    if (JSON.stringify(context) !== task.context || text64(challenge) !== task.challenge ||
        context.origin !== location.origin || context.rp_id !== location.hostname || task.credentials.length === 0) {
      return leave('page_differs');
    }
    $('band').textContent = 'Confirm with your passkey';
    $('facts').textContent = 'Compare this with the vault’s window: that is what to believe. This page works once.';
    plain($('title'), kinds[context.kind] || context.kind);
    $('says').setAttribute('aria-label', 'What is confirmed');
    lines(context.says);
    const rest = flat({ ...context, says: undefined }, '', new Map());
    rest.delete('says');
    for (const name of new Set([...Object.keys(members), ...rest.keys()])) {
      if (!rest.has(name)) continue;
      const value = rest.get(name);
      const time = name === 'issued_at' || name === 'expires_at';
      fact(members[name] || name, time ? instant(value) : value, !time && name !== 'role');
    }
    plain($('whole'), task.context, { hidden: 0, words: [] });
    tell();
    show('whole-box');
    show('worth', 'A passkey shows presence and verification: its holder was here and verified themselves. It does not show that anything was read.');
    $('go').textContent = 'Confirm with your passkey';
    offer(async timeout => {
      const c = await navigator.credentials.get({
        publicKey: { challenge, rpId: task.rp_id, allowCredentials: allowed(task.credentials), userVerification: 'required', timeout },
        signal: stop.signal,
      });
      return {
        id: text64(c.rawId), authenticator_data: text64(c.response.authenticatorData),
        client_data_json: text64(c.response.clientDataJSON), signature: text64(c.response.signature),
      };
    }, 'Nothing was signed. Start again from the sheet.', () => {
      steps([...course.slice(0, 2), 'The key process accepted it', 'Confirmed. The vault’s window goes on; this page can be closed.'], 4);
    });
  };

  // ---- enrol ----------------------------------------------------------------

  // means says in words which authenticators work in this browser.
  const means = async () => {
    const P = window.PublicKeyCredential;
    const none = () => undefined;
    const can = P.getClientCapabilities ? await P.getClientCapabilities().catch(none) : undefined;
    const here = await P.isUserVerifyingPlatformAuthenticatorAvailable().catch(none);
    const say = (yes, no, open, value) => value === true ? yes : value === false ? no : open;
    return [
      ['Security key', 'Works here if it has a PIN or reads a finger. What answers is a thing in your hand.'],
      ['Phone or tablet', say('Works here: the browser shows a code to scan. Bluetooth has to be on.', 'Does not work in this browser.',
        'This browser does not say.', can && can.hybridTransport)],
      ['This device', say('Works here: this computer can verify you by itself.', 'Does not work here: this computer offers no way to verify you.',
        'This browser does not say.', here)],
      ['Password manager', 'The browser cannot be asked. Some refuse pages of this computer. A program keeps such a passkey, and a program may answer it.'],
    ];
  };

  const enrol = async task => {
    course = ['Page opened', 'Waiting for your passkey', 'The key process reads it'];
    const e = task.enrol;
    $('band').textContent = 'Add a passkey';
    $('facts').textContent = 'Only go on if you asked for this in the vault’s window. This page works once.';
    $('title').textContent = 'Which passkey will be yours?';
    $('lead').textContent = 'Have two of them: with one lost, the other still confirms.';
    lines(e.says);
    for (const [name, words] of await means()) {
      const li = make('li');
      li.append(make('b', '', name), make('span', '', words));
      $('means').append(li);
    }
    show('means');
    tell();
    $('go').textContent = 'Add a passkey';
    let shown = '';
    offer(async timeout => {
      const c = await navigator.credentials.create({
        publicKey: {
          challenge: bytes64(e.challenge), rp: { id: task.rp_id, name: 'Vault' },
          user: { id: bytes64(e.user_id), name: e.name, displayName: e.name },
          pubKeyCredParams: [-7, -8, -257].map(alg => ({ type: 'public-key', alg })),
          authenticatorSelection: { residentKey: 'discouraged', requireResidentKey: false, userVerification: 'required' },
          attestation: 'none', excludeCredentials: allowed(task.credentials), timeout,
        },
        signal: stop.signal,
      });
      const data = new Uint8Array(c.response.getAuthenticatorData());
      shown = await digits(cose(data));
      return {
        authenticator_data: text64(data), client_data_json: text64(c.response.clientDataJSON),
        transports: [...new Set(c.response.getTransports().filter(t => /^[a-z-]{1,16}$/.test(t)))].sort().slice(0, 8),
        attachment: c.authenticatorAttachment || '',
      };
    }, 'Nothing was added. Start again from Settings.', () => {
      $('means').hidden = true;
      $('title').textContent = 'Are these six digits in the vault’s window?';
      $('lead').textContent = '';
      figure(shown);
      show('digits-note', 'The same: press “It is mine” there. Other digits, or none: somebody else answered. Remove it there.');
      steps([...course.slice(0, 2), 'The key process read it', 'Compare the digits. This page can be closed afterwards.'], 3);
    });
  };

  // ---- the course of a ceremony -----------------------------------------------

  // offer waits for the owner to press the button, asks, and hands the answer on.
  const offer = (request, nothing, accepted) => {
    step(1);
    show('main');
    for (const id of ['go', 'back']) $(id).hidden = false;
    $('go').disabled = false;
    $('back').onclick = () => leave('cancelled');
    $('go').onclick = async () => {
      $('go').disabled = true;
      $('go').textContent = 'The browser asks for your passkey';
      document.documentElement.dataset.state = 'asking';
      let answer;
      try {
        if (!await ask('/asking').then(() => !over)) return;
        answer = await request(Math.max(10000, Math.min(120000, ends - Date.now())));
      } catch (err) {
        const by = { SecurityError: 'name_refused', InvalidStateError: 'already_there', NotSupportedError: 'no_means', ConstraintError: 'no_means', TypeError: 'no_means' };
        return leave(by[err.name] || 'cancelled');
      }
      if (over) return;
      $('back').hidden = true;
      step(2);
      try {
        const verdict = await ask('/answer', { answer });
        if (!verdict || over) return;
        over = true;
        clock();
        settle();
        if (verdict.accepted) accepted();
        else steps(course, 2, [`Not accepted: ${verdict.reason}.`, nothing]);
      } catch {
        end('line_ended');
      }
    };
    document.documentElement.dataset.state = 'ready';
  };

  const main = async () => {
    step(0);
    if (!token) return end('used');
    const begun = await post('/begin', { token });
    if (begun.status === 410) return end(begun.body.outcome);
    if (begun.status !== 200) return end('used');
    session = begun.body.session;
    // Held open while the page is there: it brings the end, and closing the page ends it.
    post('/end', { session }).then(r => { if (r.status === 410) end(r.body.outcome); }, () => end('line_ended'));
    if (begun.body.digits) {
      course = ['Page opened', 'Compare the digits with the vault’s window', 'Waiting for your passkey'];
      step(1);
      show('main');
      $('title').textContent = 'Are these six digits in the vault’s window?';
      $('lead').textContent = 'This computer does not tell whose page this is. The vault goes on when you say there that they are the same.';
      figure(begun.body.digits);
      document.documentElement.dataset.state = 'compare';
    }
    const task = await ask('/task');
    if (!task) return;
    $('digits').hidden = true;
    $('title').textContent = $('lead').textContent = '';
    ends = task.ends;
    clock();
    if (!window.PublicKeyCredential || !navigator.credentials || !window.crypto.subtle) return leave('no_means');
    await (task.enrol ? enrol(task) : confirm(task));
  };
  main().catch(() => end('line_ended'));
})();
