import { defineConfig } from 'vite';
import react from '@vitejs/plugin-react';

export default defineConfig({
  plugins: [react()],
  define: { 'process.env.NODE_ENV': '"production"' },
  build: { target: 'es2022', sourcemap: false, chunkSizeWarningLimit: 20000 },
});
