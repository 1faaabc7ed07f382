import { Button, PasswordInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, key } from "../api/client";
import type { SignInOffer } from "../api/types";
import { useTexts } from "../texts/language";

export function useSession() {
  return useQuery({ queryKey: ["session"], queryFn: ({ signal }) => api.session(signal) });
}

/** Instead of the screens: sign in at the issuer, where the service has one, or give a key. */
export function SignIn({ wrong }: { wrong: boolean }) {
  const { t } = useTexts();
  const session = useSession();
  const offer = session.data?.sign_in;
  if (session.isPending) return null;
  return (
    <div className="page">
      <div className="card stack" style={{ maxWidth: "28rem", margin: "4vh auto 0", padding: "1.75rem" }}>
        <h1 style={{ fontSize: "var(--text-xl)" }}>{offer ? t.signIn.title : t.key.title}</h1>
        {offer && <Offer offer={offer} />}
        {offer ? (
          <details open={wrong}>
            <summary>{t.signIn.withKey}</summary>
            <div style={{ paddingTop: "1rem" }}>
              <KeyForm wrong={wrong} />
            </div>
          </details>
        ) : (
          <KeyForm wrong={wrong} />
        )}
      </div>
    </div>
  );
}

function Offer({ offer }: { offer: SignInOffer }) {
  const { t } = useTexts();
  const [at] = useLocation();
  return (
    <Button component="a" href={`${offer.url}?${new URLSearchParams({ next: at })}`} h="auto" py="xs" styles={{ label: { whiteSpace: "normal", overflow: "visible" } }}>
      {t.signIn.offer(offer.name)}
    </Button>
  );
}

function KeyForm({ wrong }: { wrong: boolean }) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim()) key.set(typed.trim());
      }}
    >
      <p className="quiet">{t.key.lead}</p>
      <PasswordInput
        label={t.key.label}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        placeholder="gp_…"
        autoComplete="off"
        error={wrong ? t.key.wrong : null}
      />
      <Button type="submit">{t.key.send}</Button>
    </form>
  );
}
