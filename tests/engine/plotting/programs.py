"""Twenty plotting programs of the kind that tutorials have."""

HEAD = "import numpy as np\nimport matplotlib.pyplot as plt\n"
PROGRAMS = {
    "line": (
        "x=np.linspace(0,10,100)\n"
        "plt.plot(x,np.sin(x),label='sin')\n"
        "plt.plot(x,np.cos(x),'r--',label='cos')\n"
        "plt.legend()\n"
        "plt.grid(True)\n"
        "plt.title('Waves')\n"
        "plt.xlabel('x')\n"
    ),
    "clip": ("plt.plot(np.sin(np.arange(50))*3)\nplt.ylim(-1,1)\n"),
    "scatter": (
        "rng=np.random.default_rng(0)\n"
        "plt.scatter(rng.random(50),rng.random(50),c=rng.random(50),s=100*rng.random(50),alpha=.5)\n"
        "plt.colorbar()\n"
    ),
    "bar": (
        "plt.bar(['a','b','c'],[3,5,2],color=['tab:red','gold','#4488cc'],hatch='//',yerr=[.2,.3,.1],capsize=4)\n"
    ),
    "hist": (
        "rng=np.random.default_rng(1)\n"
        "plt.hist(rng.normal(size=500),bins=30,density=True,alpha=.7,edgecolor='k')\n"
    ),
    "imshow": (
        "plt.imshow(np.arange(64.).reshape(8,8),cmap='magma')\nplt.colorbar(label='value')\n"
    ),
    "contourf": (
        "X,Y=np.meshgrid(np.linspace(-2,2,40),np.linspace(-2,2,40))\n"
        "c=plt.contourf(X,Y,np.exp(-X**2-Y**2),levels=8)\n"
        "plt.clabel(plt.contour(X,Y,X*Y,colors='w'),fontsize=7)\n"
        "plt.colorbar(c)\n"
    ),
    "surface": (
        "ax=plt.figure().add_subplot(projection='3d')\n"
        "X,Y=np.meshgrid(np.linspace(-2,2,15),np.linspace(-2,2,15))\n"
        "ax.plot_surface(X,Y,X**2-Y**2,cmap='viridis')\n"
        "ax.set_zlabel('z')\n"
    ),
    "subplots": (
        "fig,axs=plt.subplots(2,2,figsize=(8,6))\n"
        "for i,a in enumerate(axs.flat):\n"
        "    a.plot(np.arange(10)**i); a.set_title(f'$x^{i}$')\n"
        "fig.suptitle('Powers')\n"
        "fig.tight_layout()\n"
    ),
    "twin": (
        "fig,a=plt.subplots()\n"
        "a.plot([1,2,3],color='tab:blue')\n"
        "b=a.twinx()\n"
        "b.plot([30,10,20],color='tab:red')\n"
        "b.set_ylabel('other')\n"
    ),
    "text": (
        "plt.plot([0,1],[0,1])\n"
        "plt.text(.2,.8,r'$\\frac{\\partial L}{\\partial w}=\\sum_i x_i$',rotation=20)\n"
        "plt.annotate('here',(.5,.5),(.7,.2),arrowprops=dict(arrowstyle='->',color='g'))\n"
    ),
    "log": (
        "plt.loglog([1,10,100,1000],[1,5,40,2000],'o-',ms=8,mfc='w')\n"
        "plt.grid(which='both',ls=':')\n"
    ),
    "fill": (
        "x=np.linspace(0,6,60)\n"
        "plt.fill_between(x,np.sin(x)-.2,np.sin(x)+.2,alpha=.3)\n"
        "plt.plot(x,np.sin(x))\n"
        "plt.axhline(0,color='k',lw=.8)\n"
        "plt.axvspan(1,2,color='orange',alpha=.2)\n"
    ),
    "errorbar": ("plt.errorbar([1,2,3],[2,4,3],yerr=.5,fmt='s',capsize=3)\nplt.xlim(0,4)\n"),
    "box": (
        "rng=np.random.default_rng(2)\n"
        "fig,a=plt.subplots(1,2)\n"
        "a[0].boxplot([rng.normal(size=40) for _ in range(3)])\n"
        "a[1].violinplot([rng.normal(size=40) for _ in range(2)])\n"
    ),
    "pie": (
        "plt.pie([3,2,1],labels=['x','y','z'],autopct='%1.0f%%',explode=(0,.1,0),shadow=True)\n"
    ),
    "quiver": (
        "X,Y=np.meshgrid(np.arange(6),np.arange(6))\n"
        "plt.quiver(X,Y,np.cos(X),np.sin(Y))\n"
        "plt.gca().set_aspect('equal')\n"
    ),
    "polar": (
        "ax=plt.subplot(projection='polar')\n"
        "t=np.linspace(0,6.28,80)\n"
        "ax.plot(t,1+np.cos(t))\n"
        "ax.fill(t,.5+.2*np.sin(5*t),'g',alpha=.4)\n"
    ),
    "style": (
        "plt.style.use('ggplot')\n"
        "plt.step([0,1,2,3],[3,1,2,2],where='mid')\n"
        "plt.stem([0,1,2],[1,2,1])\n"
        "plt.barh([1,2],[2,1],alpha=.4)\n"
    ),
    "pcolormesh": (
        "X,Y=np.meshgrid(np.linspace(0,3,20),np.linspace(0,2,15))\n"
        "plt.pcolormesh(X,Y,np.sin(X*Y),shading='gouraud')\n"
        "plt.scatter([1],[1],marker='*',s=200,c='r',edgecolors='k')\n"
    ),
}
