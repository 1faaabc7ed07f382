import { ActionIcon, Menu, useMantineColorScheme } from "@mantine/core";
import { IconCheck, IconSettings } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useSyncExternalStore, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { api, key } from "../api/client";
import { useTexts } from "../texts/language";
import { useSession } from "./sign-in";
import css from "./top-bar.module.css";

export function TopBar() {
  const { t } = useTexts();
  return (
    <header className={css.bar}>
      <Link href="/" className={css.brand} aria-label="groundplan">
        <Mark />
        <span className={css.name}>groundplan</span>
      </Link>
      <nav className={css.nav} aria-label={t.nav.menu}>
        <NavLink to="/">{t.nav.ask}</NavLink>
        <NavLink to="/runs">{t.nav.runs}</NavLink>
        <NavLink to="/sources">{t.nav.sources}</NavLink>
        <RolloutLink />
      </nav>
      <Settings />
    </header>
  );
}

/** Only those who may administer see the page, and only where there is a variant. */
function RolloutLink() {
  const { t } = useTexts();
  const held = useSyncExternalStore(key.subscribe, key.get);
  const status = useQuery({ queryKey: ["rollout", "link", held], queryFn: ({ signal }) => api.rollout(signal), staleTime: Infinity });
  if (!status.data || ((status.data.variants ?? []).length === 0 && !status.data.rollout)) return null;
  return <NavLink to="/rollout">{t.nav.rollout}</NavLink>;
}

function NavLink({ to, children }: { to: string; children: ReactNode }) {
  const [at] = useLocation();
  const here = at === to || (to !== "/" && at.startsWith(`${to}/`));
  return (
    <Link href={to} className={css.link} aria-current={here ? "page" : undefined}>
      {children}
    </Link>
  );
}

function Settings() {
  const { t, language, setLanguage } = useTexts();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const held = useSyncExternalStore(key.subscribe, key.get);
  const person = useSession().data?.person;
  const label = [t.settings.language, t.settings.scheme, ...(person ? [t.signIn.out] : [])].join(", ");
  return (
    <Menu position="bottom-end" width={200} radius="md" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={36} aria-label={label} className={css.settings}>
          <IconSettings size={20} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown aria-label={label}>
        <Menu.Label>{t.settings.language}</Menu.Label>
        <Choice chosen={language === "en"} choose={() => setLanguage("en")}>
          English
        </Choice>
        <Choice chosen={language === "ru"} choose={() => setLanguage("ru")}>
          Русский
        </Choice>
        <Menu.Label>{t.settings.scheme}</Menu.Label>
        {(["auto", "light", "dark"] as const).map((scheme) => (
          <Choice key={scheme} chosen={colorScheme === scheme} choose={() => setColorScheme(scheme)}>
            {t.settings[scheme]}
          </Choice>
        ))}
        {held && <Menu.Item onClick={() => key.set(null)}>{t.settings.key}</Menu.Item>}
        {person && <SignOut person={person} />}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Ends the session and loads the page anew, so that nothing of it stays in memory. */
function SignOut({ person }: { person: string }) {
  const { t } = useTexts();
  const signOut = useMutation({ mutationFn: api.signOut, onSuccess: () => location.replace("/") });
  return (
    <>
      <Menu.Label className="break">{t.signIn.as(person)}</Menu.Label>
      <Menu.Item closeMenuOnClick={false} disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        {t.signIn.out}
      </Menu.Item>
      {signOut.isError && <Menu.Label role="alert">{t.signIn.stillIn}</Menu.Label>}
    </>
  );
}

function Choice({ chosen, choose, children }: { chosen: boolean; choose: () => void; children: ReactNode }) {
  return (
    <Menu.Item onClick={choose} rightSection={chosen ? <IconCheck size={16} aria-hidden /> : null} data-chosen={chosen}>
      {children}
    </Menu.Item>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" className={css.mark} aria-hidden="true">
      <path d="M3 4h18v16h-6M3 4v16h7M12 4v7M3 11h5M16 11h5" />
    </svg>
  );
}
