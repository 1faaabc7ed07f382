import { createTheme, type MantineColorsTuple } from "@mantine/core";

const teal: MantineColorsTuple = [
  "#e6f3f1",
  "#cfe7e3",
  "#a2d2cb",
  "#70bbb1",
  "#3fa397",
  "#1d8a7e",
  "#0f7a70",
  "#0b6e66",
  "#085c55",
  "#054842",
];

const font = "'Inter Variable', system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";

export const theme = createTheme({
  colors: { teal },
  primaryColor: "teal",
  primaryShade: { light: 7, dark: 3 },
  autoContrast: true,
  luminanceThreshold: 0.32,
  fontFamily: font,
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace",
  headings: { fontFamily: font, fontWeight: "650" },
  defaultRadius: "md",
  radius: { xs: "4px", sm: "6px", md: "8px", lg: "12px", xl: "18px" },
  components: { Button: { defaultProps: { variant: "filled" } } }, // named, so that design.css can tell it
  cursorType: "pointer",
  respectReducedMotion: true,
});
